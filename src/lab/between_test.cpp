#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/analysis.h"
#include "lab/checks.h"
#include "lab/experiment_fixture.h"
#include "lab/noise.h"
#include "lab/samples.h"
#include "lab/schedule.h"
#include "lab/sizing.h"
#include "lab/verdict.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

const Arm kMlxUnlimited = make_arm(ArmLimit::unlimited());
const Arm kWeirSmall = make_arm(Allocator::kWeir, ArmLimit::of(64 * kMiB));
const Arm kPolicySmall = make_arm(Allocator::kMlxPolicy, ArmLimit::of(64 * kMiB));

Plan plan_of(int starts, int turns = 1) {
  Plan plan;
  plan.question.arms = {kMlxUnlimited, kWeirSmall, kPolicySmall};
  plan.question.baseline = "unlimited";
  plan.sizes.starts = starts;
  plan.sizes.blocks_per_start = turns;
  plan.sizes.footprint_starts_per_arm = 3;
  plan.probe.retained_peak_bytes = 1'000'000'000;
  plan.seed = 5;
  return plan;
}

Cell cell() {
  Cell out;
  out.name = "c";
  out.text = "t";
  out.shortest_prompt_tokens = 100;
  out.longest_prompt_tokens = 300;
  return out;
}

TEST(Between, IsTheDesignOfArmsThatOneProcessCannotRun) {
  Question question;
  question.arms = {kMlxUnlimited, make_arm(ArmLimit::of(0))};
  EXPECT_EQ(design_of(question), Design::kCrossover);
  question.arms = {kWeirSmall, kPolicySmall};
  EXPECT_EQ(design_of(question), Design::kCrossover);
  question.arms.push_back(kMlxUnlimited);
  EXPECT_EQ(design_of(question), Design::kBetween);
}

TEST(Between, EveryBlockOfStartsHasEachArmOnceAndTheBaselineTwiceByLot) {
  const Plan plan = plan_of(30);
  Plan other = plan;
  other.seed = 6;
  std::map<int, std::set<int>> places;
  int differing = 0;
  for (int start = 0; start < 30; ++start) {
    const auto order = starts_order(plan, cell(), start);
    EXPECT_EQ(order, starts_order(plan, cell(), start));
    differing += order == starts_order(other, cell(), start) ? 0 : 1;
    std::multiset<int> arms;
    for (std::size_t place = 0; place < order.size(); ++place) {
      arms.insert(order[place].arm);
      places[order[place].arm].insert(static_cast<int>(place));
    }
    EXPECT_EQ(arms, (std::multiset<int>{0, 0, 1, 2}));
  }
  EXPECT_GT(differing, 20);
  for (const auto& [arm, seen] : places)
    EXPECT_EQ(seen.size(), 4u) << "arm " << arm << " never stood in some place";
}

/// Speeds of processes: each has a level of its own, and each of its turns a little noise.
class Simulated {
 public:
  Simulated(std::uint64_t seed, double process_sd, std::map<int, double> speed)
      : random_(seed), process_sd_(process_sd), speed_(std::move(speed)) {}

  Records run(const Plan& plan) {
    Records out;
    for (int index = 0; index < 9; ++index)
      out.footprints.push_back(footprint(plan, index));
    for (int start = 0; start < plan.sizes.starts; ++start) {
      const auto order = starts_order(plan, cell(), start);
      for (std::size_t place = 0; place < order.size(); ++place) {
        BlockRecord process{start, static_cast<int>(place), {}, 5};
        const double level = process_sd_ * normal(random_);
        for (int turn = 0; turn < plan.sizes.blocks_per_start; ++turn)
          process.turns.push_back(turn_of(plan, order[place], level, turn));
        out.blocks.push_back(std::move(process));
      }
    }
    return out;
  }

 private:
  TurnRecord turn_of(const Plan& plan, const TurnPlan& of, double level, int nth) {
    const Arm& arm = plan.question.arms[static_cast<std::size_t>(of.arm)];
    const auto time = [&] { return std::exp(-level - 0.003 * normal(random_)) / speed_[of.arm]; };
    TurnRecord out;
    out.arm = of.arm;
    out.second = of.second;
    out.allocator = arm.allocator;
    out.in_force_bytes = effective_bytes(arm);
    out.retained_peak_bytes = out.retained_bytes = effective_bytes(arm).value_or(1'000'000'000);
    out.measured = {{"m" + std::to_string(nth), 100, 9, "length", "0", time(), time()}};
    return out;
  }

  FootprintRecord footprint(const Plan& plan, int index) {
    FootprintRecord out;
    out.index = index;
    out.arm = index % 3;
    const Arm& arm = plan.question.arms[static_cast<std::size_t>(out.arm)];
    out.allocator = arm.allocator;
    out.in_force_bytes = effective_bytes(arm);
    out.retained_peak_bytes = out.retained_bytes = effective_bytes(arm).value_or(1'000'000'000);
    out.footprint_peak_low_bytes = 500'000'000 + out.retained_peak_bytes + 1000 * index;
    out.footprint_peak_high_bytes = out.footprint_peak_low_bytes + 100'000;
    out.seconds = 5;
    return out;
  }

  SeededRandom random_;
  double process_sd_;
  std::map<int, double> speed_;
};

const std::map<int, double> kEqual{{0, 1.0}, {1, 1.0}, {2, 1.0}};
const std::map<int, double> kAtTheMargin{{0, 1.0}, {1, 0.98}, {2, 0.98}};

TEST(Between, TheBlockOfStartsIsTheUnitHoweverManyTurnsAProcessRuns) {
  const Plan plan = plan_of(8, 5);
  const auto records = Simulated(1, 0.05, kEqual).run(plan);
  const auto samples = collect(plan, records, 8);
  EXPECT_EQ(samples.arms[1].decode.size(), 8u);
  EXPECT_EQ(samples.equal.decode_starts.size(), 8u);
  EXPECT_EQ(count_pairs(plan, records).pairs, 16);
  const auto result = analyse(plan, cell(), records);
  EXPECT_EQ(result.design, Design::kBetween);
  EXPECT_EQ(result.starts, 8);
  EXPECT_EQ(result.cells[0].arms[1].change.at(kDecode).n, 8);
  // The noise floor holds what processes differ by: sqrt(2) x 5 %, five turns of one do not average it out.
  EXPECT_GT(result.cells[0].noise[0].sd_pair, 0.03);
  EXPECT_GT(result.cells[0].noise[0].sd_start, 0.03);
}

TEST(Between, AnArmIsHeldAgainstBothBaselineStartsOfItsOwnBlock) {
  const Plan plan = plan_of(2);
  Records records = Simulated(1, 0, kEqual).run(plan);
  for (auto& process : records.blocks)
    for (auto& request : process.turns[0].measured)  // a whole block of starts that is slow
      if (process.start == 1) request.decode_seconds *= 3, request.prefill_seconds *= 3;
  for (const double value : collect(plan, records, 2).arms[1].decode)
    EXPECT_NEAR(value, 0, 0.02);
}

TEST(Between, AProcessIsAsFastAsAllItsTurnsTogether) {
  const Plan plan = plan_of(1, 2);
  Records records = Simulated(1, 0, kEqual).run(plan);
  for (auto& process : records.blocks)
    for (std::size_t turn = 0; turn < 2; ++turn) {
      auto& request = process.turns[turn].measured[0];
      const bool weir = process.turns[turn].arm == 1;
      request.decode_seconds = weir && turn == 1 ? 3 : 1;  // (8 + 8) / (1 + 3) against (8 + 8) / (1 + 1)
    }
  EXPECT_NEAR(collect(plan, records, 1).arms[1].decode.at(0), std::log(0.5), 1e-12);
}

TEST(Between, ABlockWithoutBothBaselineStartsComparesNothing) {
  const Plan plan = plan_of(3);
  Records records = Simulated(1, 0, kEqual).run(plan);
  const auto gone = std::find_if(records.blocks.begin(), records.blocks.end(), [](const BlockRecord& block) {
    return block.start == 1 && block.turns[0].arm == 0;
  });
  records.blocks.erase(gone);
  EXPECT_EQ(collect(plan, records, 3).arms[1].decode.size(), 2u);
  records.failures = {{false, 1, {"died", "died"}}};
  EXPECT_EQ(count_pairs(plan, records).pairs, 4);
  EXPECT_EQ(count_pairs(plan, records).void_pairs, 2);
  records.failures = {{false, 2, {"died"}}};  // one process, run again
  EXPECT_EQ(count_pairs(plan, records).void_pairs, 1);
}

struct Verdicts {
  int ship = 0, close = 0;
};

/// Experiments in which any arm gets the verdict.
Verdicts simulate(int experiments, const std::map<int, double>& speed, double process_sd, int turns) {
  Verdicts out;
  const Plan plan = plan_of(10, turns);
  for (int i = 0; i < experiments; ++i) {
    const auto records = Simulated(static_cast<std::uint64_t>(1000 + i), process_sd, speed).run(plan);
    Rule rule = plan.question.rule;
    rule.saving_bytes = 100'000'000;
    bool ship = false, close = false;
    for (const auto& decision :
         decide(rule, look_level(plan), smallest_ship_level(plan),
                collect(plan, records, plan.sizes.starts).arms, std::vector<bool>(3, false), 0)) {
      ship = ship || decision.verdict == Verdict::kShip;
      close = close || decision.verdict == Verdict::kClose;
    }
    out.ship += ship ? 1 : 0;
    out.close += close ? 1 : 0;
  }
  return out;
}

TEST(Between, FalseVerdictsAtTheMarginAreAsRareAsStated) {
  // 300 experiments at the margin: 5 % are 15, three standard deviations more are 26.
  for (const int turns : {1, 4}) {
    const auto seen = simulate(300, kAtTheMargin, 0.05, turns);
    EXPECT_LE(seen.ship, 26) << turns;
    EXPECT_LE(seen.close, 26) << turns;
    EXPECT_GE(seen.ship + seen.close, 3) << "a rule that never fires proves nothing";
  }
}

TEST(Between, FindsWhatIsClearBetweenProcesses) {
  EXPECT_GE(simulate(50, kEqual, 0.005, 1).ship, 45);
  EXPECT_GE(simulate(50, {{0, 1.0}, {1, 0.7}, {2, 0.7}}, 0.05, 1).close, 45);
}

TEST(Between, APlaceThatExplainsTheSpeedIsTold) {
  const Plan plan = plan_of(24);
  Records records = Simulated(3, 0.002, kEqual).run(plan);
  EXPECT_TRUE(order_warnings(plan, records).empty());
  for (auto& process : records.blocks)
    if (process.block == 0) process.turns[0].measured[0].decode_seconds *= 1.1;
  const auto warnings = order_warnings(plan, records);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].id, "position");
  EXPECT_FALSE(warnings[0].is_void);
}

TEST(BetweenSizes, FillTheMinutesWithBlocksOfStarts) {
  Question question = plan_of(1).question;
  Probe probe;
  probe.load_milliseconds = 1'500;
  probe.turn_milliseconds = 2'000;
  probe.footprint_start_milliseconds = 5'000;
  probe.spent_milliseconds = 9'000;
  const double block = 4 * 3.5;
  EXPECT_DOUBLE_EQ(expected_start_seconds(question, probe, 1), block);
  for (const double minutes : {5.0, 20.0, 60.0}) {
    question.budget = minutes > 5 ? Budget::kDecide : Budget::kDefault;
    question.minutes = minutes;
    Plan plan = plan_of(1);
    plan.question = question;
    plan.probe = probe;
    plan.sizes = choose_sizes(question, probe, {}, 100);
    EXPECT_TRUE(check_plan(plan)) << minutes;
    const double whole = 9 + expected_footprint_seconds(plan) + expected_speed_seconds(plan);
    EXPECT_LE(whole, minutes * 60);
    EXPECT_GT(whole, minutes * 60 * 0.6);
    // Another process tells more than another turn of one.
    EXPECT_LE(plan.sizes.blocks_per_start, 2) << minutes;
    if (question.budget == Budget::kDecide) {
      EXPECT_EQ(plan.sizes.starts % 3, 0);
    }
  }
}

class BetweenRun : public Experiment {
 protected:
  BetweenRun() { request_.arms = {kMlxUnlimited, kWeirSmall, kPolicySmall}; }

  std::vector<BlockRecord> stored_blocks(const Outcome& outcome) {
    std::vector<BlockRecord> out;
    for (const auto& row : value_or_throw(store_->blocks(outcome.result.seal)))
      if (row.kind == store::StartKind::kSpeed) out.push_back(value_or_throw(block_from_json(row.json)));
    return out;
  }
};

TEST_F(BetweenRun, EachProcessRunsOneArmOnItsOwnAllocator) {
  const auto outcome = run({.noise_sd = 0.004});
  EXPECT_EQ(outcome.result.design, Design::kBetween);
  EXPECT_EQ(outcome.result.verdict, Verdict::kShip) << outcome.result.sentence;
  const auto blocks = stored_blocks(outcome);
  ASSERT_EQ(blocks.size(), static_cast<std::size_t>(outcome.plan.sizes.starts) * 4);
  std::vector<Allocator> expected{Allocator::kMlx};  // the probe is the baseline's
  for (const int arm : footprint_order(outcome.plan))
    expected.push_back(request_.arms[static_cast<std::size_t>(arm)].allocator);
  std::map<int, std::set<std::string>> requests;
  for (const auto& process : blocks) {
    const auto order = starts_order(outcome.plan, request_.cell, process.start);
    for (const auto& turn : process.turns) {
      EXPECT_EQ(turn.arm, order[static_cast<std::size_t>(process.block)].arm);
      EXPECT_EQ(turn.second, order[static_cast<std::size_t>(process.block)].second);
      EXPECT_EQ(turn.allocator, request_.arms[static_cast<std::size_t>(turn.arm)].allocator);
    }
    requests[process.start].insert(process.turns[0].measured[0].name);
    expected.push_back(process.turns[0].allocator);
  }
  for (const auto& [start, names] : requests)
    EXPECT_EQ(names.size(), 1u) << "processes of block " << start << " did other work";
  EXPECT_EQ(started_on_, expected);
}

TEST_F(BetweenRun, ASpreadBetweenProcessesIsNotMistakenForAnEffect) {
  const auto outcome = run({.noise_sd = 0.004, .start_noise_sd = 0.08});
  EXPECT_EQ(outcome.result.verdict, Verdict::kInconclusive) << outcome.result.sentence;
  EXPECT_THAT(outcome.result.sentence, testing::ContainsRegex("[0-9]+ min"));
  EXPECT_THAT(outcome.result.sentence, testing::AnyOf(HasSubstr("more blocks of 4 starts"),
                                                      HasSubstr("fresh processes differ so much")));
}

TEST_F(BetweenRun, GoesOnAfterAnAbortAnywhere) {
  request_.minutes = 1;
  run();
  const int whole = requests_;
  for (int stop_at = 3; stop_at < whole; stop_at += std::max(1, whole / 11)) {
    request_.cell.sha256 = std::to_string(stop_at);
    int asked = 0;
    before_request_ = [&] {
      if (++asked == stop_at) throw std::runtime_error("killed");
    };
    EXPECT_THROW(run(), std::runtime_error);
    before_request_ = {};
    const auto outcome = run();
    EXPECT_TRUE(outcome.result.complete);
    EXPECT_EQ(stored_blocks(outcome).size(), static_cast<std::size_t>(outcome.plan.sizes.starts) * 4);
    EXPECT_EQ(outcome.result.void_pairs, 0);
  }
}

TEST_F(BetweenRun, AScreenKeepsItsTimeAndGivesNoVerdict) {
  request_.budget = Budget::kQuick;
  request_.minutes = 1.8;
  const double begin = seconds(clock_.now());
  const auto outcome = run({.slowdown = [](int start) { return start > 8 ? 3.0 : 1.0; }});
  EXPECT_LE(seconds(clock_.now()) - begin, 125);
  EXPECT_TRUE(outcome.result.complete);
  EXPECT_EQ(outcome.result.cells[0].arms[1].reason, "screen");
}

TEST_F(BetweenRun, AWorkerThatKnowsNoAllocatorVoidsItsArms) {
  const auto outcome = run({.knows_no_allocator = true});
  EXPECT_EQ(outcome.result.verdict, Verdict::kVoid);
  EXPECT_EQ(arm(outcome, "weir 64 MiB").reason, "failed_starts") << outcome.result.sentence;
}

TEST_F(BetweenRun, TheLooksOfADecisionStopEarly) {
  request_.budget = Budget::kDecide;
  request_.minutes = 40;
  const auto outcome = run({.noise_sd = 0.002});
  EXPECT_EQ(outcome.result.looks, 3);
  EXPECT_LT(outcome.result.starts, outcome.result.starts_planned);
  EXPECT_EQ(outcome.result.verdict, Verdict::kShip);
}

}  // namespace
}  // namespace weir::lab
