#include "lab/checks.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/byte_text.h"
#include "lab/samples.h"
#include "stats/order_check.h"
#include "stats/summary.h"

namespace weir::lab {

namespace {

const Arm& arm_of(const Plan& plan, int arm) {
  return plan.question.arms[static_cast<std::size_t>(arm)];
}

std::string limit_text(const std::optional<std::int64_t>& bytes) {
  return bytes ? exact_bytes(*bytes) : "unlimited";
}

/// Everything about a request that must be equal in all arms, as text.
std::string work_of(const RequestRecord& r) {
  return std::to_string(r.prompt_tokens) + " prompt tokens, " + std::to_string(r.generated_tokens) +
         " generated, finish " + r.finish_reason + ", ids " + r.ids_hash;
}

/// Compares each request of `arm` with the baseline's of the same name. "" when all agree.
std::string differing_work(const Plan& plan, const Records& records, int arm) {
  const int baseline = baseline_index(plan.question);
  std::map<std::string, std::string> expected;
  const auto visit = [&](int of, const auto& use) {
    for (const auto& footprint : records.footprints)
      if (footprint.arm == of)
        for (const auto& request : footprint.requests)
          use(request);
    for (const auto& block : records.blocks)
      for (const auto& turn : block.turns) {
        if (turn.arm != of) continue;
        for (const auto& request : turn.warm)
          use(request);
        for (const auto& request : turn.measured)
          use(request);
      }
  };
  visit(baseline, [&](const RequestRecord& r) { expected.emplace(r.name, work_of(r)); });
  std::string problem;
  visit(arm, [&](const RequestRecord& r) {
    const auto it = expected.find(r.name);
    if (problem.empty() && it != expected.end() && it->second != work_of(r))
      problem = "request " + r.name + ": " + work_of(r) + "; the baseline: " + it->second;
  });
  return problem;
}

/// What was read of one footprint start or turn.
struct KnobReading {
  Allocator allocator;
  const std::optional<std::int64_t>& in_force;
  std::int64_t at_rest, peak;
};

std::string knob_problem(const Arm& arm, const KnobReading& read) {
  if (read.allocator != arm.allocator)
    return "asked for the allocator " + allocator_name(arm.allocator) + ", ran on " +
           allocator_name(read.allocator);
  const auto asked = effective_bytes(arm);
  if (read.in_force != asked)
    return "asked for " + limit_text(asked) + ", read back " + limit_text(read.in_force);
  if (!asked) return "";
  const bool weir = arm.allocator == Allocator::kWeir;
  if (read.at_rest > *asked + (*asked == 0 || weir ? 0 : kOneBufferBytes))
    return "kept " + exact_bytes(read.at_rest) + " at rest under a limit of " + exact_bytes(*asked);
  if (weir && read.peak > *asked)
    return "retained up to " + exact_bytes(read.peak) + " under a limit of " + exact_bytes(*asked);
  return "";
}

std::string dead_knob(const Plan& plan, const Records& records, int arm) {
  const Arm& asked = arm_of(plan, arm);
  const auto problem_of = [&](const auto& record) {
    return knob_problem(
        asked, {record.allocator, record.in_force_bytes, record.retained_bytes, record.retained_peak_bytes});
  };
  for (const auto& record : records.footprints) {
    if (record.arm != arm) continue;
    if (auto problem = problem_of(record); !problem.empty()) return problem;
  }
  for (const auto& block : records.blocks)
    for (const auto& turn : block.turns) {
      if (turn.arm != arm) continue;
      if (auto problem = problem_of(turn); !problem.empty()) return problem;
    }
  return "";
}

/// Do two samples differ beyond their own spread and a floor?
bool differ(const std::vector<double>& a, const std::vector<double>& b, double floor) {
  if (a.empty() || b.empty()) return false;
  const auto sa = stats::summarize(a);
  const auto sb = stats::summarize(b);
  return std::abs(sa.mean - sb.mean) > floor + 3 * std::max(sa.sd, sb.sd);
}

/// True when no observed effect (retained, footprint, faults) tells the arm from the baseline.
bool indistinguishable(const Plan& plan, const Records& records, int arm) {
  const auto base = footprints_of(records, baseline_index(plan.question));
  const auto mine = footprints_of(records, arm);
  if (base.empty() || mine.empty()) return false;
  const auto values = [](const std::vector<FootprintRecord>& of, std::int64_t FootprintRecord::*field) {
    std::vector<double> out;
    for (const auto& record : of)
      out.push_back(static_cast<double>(record.*field));
    return out;
  };
  const auto differs = [&](std::int64_t FootprintRecord::*field, double share, double floor) {
    const auto b = values(base, field);
    return differ(b, values(mine, field), std::max(floor, share * stats::summarize(b).mean));
  };
  constexpr double kMiB = 1 << 20;
  return !differs(&FootprintRecord::retained_peak_bytes, 0.01, kMiB) &&
         !differs(&FootprintRecord::footprint_peak_high_bytes, 0.01, 4 * kMiB) &&
         !differs(&FootprintRecord::page_faults, 0.05, 100);
}

void add(std::vector<CheckFinding>& out, const char* id, const Arm& arm, std::string what) {
  out.push_back({id, arm.name, true, std::move(what)});
}

void check_arm(const Plan& plan, const Records& records, bool footprints_done, int arm,
               std::vector<CheckFinding>& out) {
  const Arm& a = arm_of(plan, arm);
  const bool mine = !footprints_of(records, arm).empty();
  const bool base = !footprints_of(records, baseline_index(plan.question)).empty();
  if (footprints_done && (!mine || !base))
    add(out, "failed_starts", a,
        "no footprint start of " + (mine ? plan.question.baseline : a.name) + " ended well");
  if (auto what = differing_work(plan, records, arm); !what.empty()) add(out, "work", a, what);
  if (auto what = dead_knob(plan, records, arm); !what.empty()) add(out, "knob", a, what);
  if (auto reach = reach_of(plan, records, arm); reach.reached == false)
    add(out, "not_reached", a, reach.sentence);
  // An allocator that was read back is a difference, also where it keeps as much.
  const bool one_allocator = a.allocator == arm_of(plan, baseline_index(plan.question)).allocator;
  if (footprints_done && one_allocator && indistinguishable(plan, records, arm))
    add(out, "indistinguishable", a,
        "retained bytes, footprint and page faults equal the baseline's within noise");
}

/// The largest retained peak of arms whose limit is above `limit`, in speed turns; nullopt without such a
/// turn.
std::optional<std::int64_t> freest_turn(const Plan& plan, const Records& records, std::int64_t limit) {
  std::optional<std::int64_t> most;
  for (const auto& block : records.blocks)
    for (const auto& turn : block.turns) {
      const auto other = effective_bytes(arm_of(plan, turn.arm));
      if (!other || *other > limit) most = std::max(most.value_or(0), turn.retained_peak_bytes);
    }
  return most;
}

/// The log rates in running order. Between: every block of starts has its own mean taken away and all count
/// as one start, because an arm stands in a block once and only other blocks can tell what its place does.
std::vector<stats::Turn> ordered_turns(const Plan& plan, const Records& records,
                                       double (*rate)(const TurnRecord&)) {
  const bool between = design_of(plan.question) == Design::kBetween;
  std::vector<stats::Turn> out;
  for (const auto& block : comparable_blocks(plan, records)) {
    double mean = 0;
    for (const auto& turn : block.turns)
      mean += between ? std::log(rate(turn)) / static_cast<double>(block.turns.size()) : 0;
    int previous = -1;
    for (std::size_t i = 0; i < block.turns.size(); ++i) {
      const auto& turn = block.turns[i];
      out.push_back({between ? 0 : block.start, turn.arm, static_cast<int>(i), between ? -1 : previous,
                     std::log(rate(turn)) - mean});
      previous = turn.arm;
    }
  }
  return out;
}

}  // namespace

Reach reach_of(const Plan& plan, const Records& records, int arm) {
  const auto limit = effective_bytes(arm_of(plan, arm));
  if (!limit) return {};
  std::int64_t most = plan.probe.retained_peak_bytes;
  bool by_baseline = false;
  for (const auto& record : records.footprints) {
    if (record.arm == arm) continue;
    if (record.retained_peak_bytes >= most && record.arm == baseline_index(plan.question)) by_baseline = true;
    most = std::max(most, record.retained_peak_bytes);
  }
  const std::string name = arm_of(plan, arm).name;
  const std::string who = by_baseline ? "the baseline" : "an unlimited start";
  if (most <= *limit)
    return {false, "never reached " + name + " (" + exact_bytes(*limit) + "): " + who + " retained at most " +
                       exact_bytes(most)};
  const auto turn = freest_turn(plan, records, *limit);
  if (turn && *turn <= *limit)
    return {false, "its speed turns never reached " + name + " (" + exact_bytes(*limit) +
                       "): without it they retained at most " + exact_bytes(*turn)};
  return {true, ""};
}

std::vector<CheckFinding> run_checks(const Plan& plan, const Records& records, bool footprints_done) {
  std::vector<CheckFinding> out;
  const auto count = count_pairs(plan, records);
  const int baseline = baseline_index(plan.question);
  // Held against the plan, so that one early loss is not most of what there is yet.
  const int all = planned_pairs(plan);
  const bool too_many = count.void_pairs > kMostVoidShare * all;
  // A knob that is dead in the baseline spoils every comparison.
  const std::string baseline_problem = dead_knob(plan, records, baseline);
  for (int arm = 0; arm < static_cast<int>(plan.question.arms.size()); ++arm) {
    if (arm == baseline) continue;
    if (!baseline_problem.empty()) add(out, "knob", arm_of(plan, arm), "the baseline " + baseline_problem);
    check_arm(plan, records, footprints_done, arm, out);
    if (too_many)
      add(out, "void_pairs", arm_of(plan, arm),
          std::to_string(count.void_pairs) + " of " + std::to_string(all) +
              " planned pairs were lost to failed workers");
  }
  return out;
}

std::vector<CheckFinding> order_warnings(const Plan& plan, const Records& records) {
  std::vector<CheckFinding> out;
  const bool between = design_of(plan.question) == Design::kBetween;
  const auto decode = ordered_turns(plan, records, decode_rate);
  const auto prefill = ordered_turns(plan, records, prefill_rate);
  const auto warn = [&](const char* id, const char* metric, double p, const char* what) {
    if (p < 0.005) out.push_back({id, "", false, std::string(metric) + ": " + what});
  };
  for (const auto& [metric, turns] : {std::pair{"decode", &decode}, std::pair{"prefill", &prefill}}) {
    if (!between)
      warn("carry_over", metric, stats::carry_over_p(*turns, plan.seed),
           "the arm that ran before explains a part of the speed; more warm requests would help");
    warn("position", metric, stats::position_p(*turns, plan.seed),
         "the place within a block explains a part of the speed; the order by lot keeps it out of the "
         "verdict");
  }
  return out;
}

std::vector<CheckFinding> idle_limits(const Plan& plan, const Records& records) {
  constexpr std::int64_t kGranuleBytes = 2 << 20;  // a limit that acts leaves less room than one
  std::vector<CheckFinding> out;
  for (int index = 0; index < static_cast<int>(plan.question.arms.size()); ++index) {
    const Arm& arm = arm_of(plan, index);
    const auto limit = effective_bytes(arm);
    if (arm.allocator != Allocator::kWeir || !limit) continue;
    std::optional<std::int64_t> most;
    for (const auto& record : footprints_of(records, index))
      most = std::max(most.value_or(0), record.retained_peak_bytes);
    for (const auto& block : records.blocks)
      for (const auto& turn : block.turns)
        if (turn.arm == index) most = std::max(most.value_or(0), turn.retained_peak_bytes);
    if (most && *most + kGranuleBytes <= *limit)
      out.push_back({"idle_limit", arm.name, false,
                     "its limit never acted: following demand, weir retained at most " + exact_bytes(*most)});
  }
  return out;
}

int planned_pairs(const Plan& plan) {
  const bool between = design_of(plan.question) == Design::kBetween;
  return treatments(plan.question) * plan.sizes.starts * (between ? 1 : plan.sizes.blocks_per_start);
}

PairCount count_pairs(const Plan& plan, const Records& records) {
  const bool between = design_of(plan.question) == Design::kBetween;
  const int each = treatments(plan.question);
  PairCount out;
  std::map<int, int> pairs;
  for (const auto& block : comparable_blocks(plan, records)) {
    const int kept = between ? static_cast<int>(block.turns.size()) - 2 : each;
    pairs[block.start] += kept;
    out.pairs += kept;
  }
  const int whole = planned_pairs(plan) / std::max(1, plan.sizes.starts);
  for (const auto& failure : records.failures) {
    if (failure.footprint) continue;
    const int broken = static_cast<int>(failure.messages.size());
    const int missing = broken >= kAttempts ? whole - pairs[failure.index] : 0;
    // A broken process takes a block of pairs with it, or one of them where it runs one arm.
    out.void_pairs += std::max(broken * (between ? 1 : each), missing);
  }
  return out;
}

}  // namespace weir::lab
