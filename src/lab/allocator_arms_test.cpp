#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/checks.h"
#include "lab/experiment_fixture.h"
#include "lab/journal.h"
#include "lab/result_json.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

TEST(AllocatorArms, NamesSayTheAllocatorWhereItIsNotMlxsOwn) {
  EXPECT_EQ(make_arm(ArmLimit::of(64 * kMiB)).name, "64 MiB");
  EXPECT_EQ(make_arm(Allocator::kWeir, ArmLimit::of(64 * kMiB)).name, "weir 64 MiB");
  EXPECT_EQ(make_arm(Allocator::kWeir, ArmLimit::unset()).name, "weir unset");
  EXPECT_EQ(make_arm(Allocator::kMlxPolicy, ArmLimit::unset()).name, "mlx-policy unset (32 MiB)");
  EXPECT_EQ(make_arm(Allocator::kMlxPolicy, ArmLimit::of(0)).name, "mlx-policy 0");
}

TEST(AllocatorArms, UnsetIsMlxsDefaultOrWhatWeirFollowsAnyway) {
  EXPECT_EQ(effective_bytes(make_arm(Allocator::kMlxPolicy, ArmLimit::unset())), kLibraryDefaultBytes);
  EXPECT_EQ(effective_bytes(make_arm(Allocator::kWeir, ArmLimit::unset())), std::nullopt);
  EXPECT_TRUE(same_setting(make_arm(Allocator::kWeir, ArmLimit::unset()),
                           make_arm(Allocator::kWeir, ArmLimit::unlimited())));
  EXPECT_FALSE(same_setting(make_arm(Allocator::kWeir, ArmLimit::of(0)), make_arm(ArmLimit::of(0))));
}

Plan pool_plan(bool with_mlx) {
  Plan plan;
  plan.question.arms = {make_arm(Allocator::kMlxPolicy, ArmLimit::unlimited()),
                        make_arm(Allocator::kWeir, ArmLimit::of(64 * kMiB))};
  if (with_mlx) plan.question.arms.push_back(make_arm(ArmLimit::of(0)));
  plan.question.baseline = "mlx-policy unlimited";
  plan.seed = 3;
  return plan;
}

TEST(AllocatorArms, APlanKeepsAllocatorAndDesign) {
  for (const bool with_mlx : {false, true}) {
    const Plan plan = pool_plan(with_mlx);
    const std::string text = canonical_json(plan);
    const auto again = plan_from_json(text);
    ASSERT_TRUE(again) << describe(again.error());
    EXPECT_EQ(again->question.arms, plan.question.arms);
    EXPECT_EQ(seal(*again), seal(plan));
    EXPECT_EQ(text.find("\"design\":\"between\"") != std::string::npos, with_mlx);
  }
  Plan other = pool_plan(false);
  other.question.arms[1] = make_arm(Allocator::kMlxPolicy, ArmLimit::of(64 * kMiB));
  EXPECT_NE(question_hash(other.question), question_hash(pool_plan(false).question));
  EXPECT_FALSE(
      plan_from_json(std::string(canonical_json(pool_plan(true)))
                         .replace(canonical_json(pool_plan(true)).find("\"between\""), 9, "\"crossover\"")));
}

std::string without(std::string text, const std::string& part) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part))
    text.erase(at, part.size());
  return text;
}

TEST(AllocatorArms, WhatWasWrittenBeforeThereWereAllocatorsIsOnMlx) {
  Plan plan;
  plan.question.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(0))};
  plan.question.baseline = "unlimited";
  const auto old_plan = plan_from_json(without(canonical_json(plan), "\"allocator\":\"mlx\","));
  ASSERT_TRUE(old_plan) << describe(old_plan.error());
  EXPECT_EQ(old_plan->question.arms, plan.question.arms);
  // A crossover's canonical text has not changed, so old seals hold.
  EXPECT_EQ(canonical_json(plan).find("design"), std::string::npos);

  BlockRecord block{0, 0, {TurnRecord{}}, 1};
  const auto old_block = block_from_json(without(to_json(block), "\"allocator\":\"mlx\","));
  ASSERT_TRUE(old_block);
  EXPECT_EQ(*old_block, block);
  EXPECT_TRUE(footprint_from_json(without(to_json(FootprintRecord{}), "\"allocator\":\"mlx\",")));

  ExperimentResult result;
  result.cells.emplace_back();
  result.cells[0].arms.emplace_back();
  const std::string text = to_json(result);
  auto old = without(without(text, "\"allocator\": \"mlx\",\n"), "\"design\": \"crossover\",\n");
  EXPECT_EQ(old.find("allocator"), std::string::npos);
  const auto old_result = result_from_json(old);
  ASSERT_TRUE(old_result) << describe(old_result.error());
  EXPECT_EQ(to_json(*old_result), text);
}

TEST(AllocatorArms, ResultsKeepAllocatorAndDesign) {
  ExperimentResult result;
  result.design = Design::kBetween;
  result.cells.emplace_back();
  result.cells[0].arms.emplace_back();
  result.cells[0].arms[0].allocator = Allocator::kWeir;
  const auto again = result_from_json(to_json(result));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->design, Design::kBetween);
  EXPECT_EQ(again->cells[0].arms[0].allocator, Allocator::kWeir);
  EXPECT_THAT(to_json(result), HasSubstr("\"allocator\": \"weir\""));
}

class PoolArms : public Experiment {
 protected:
  PoolArms() {
    request_.arms = pool_plan(false).question.arms;
    request_.arms.push_back(make_arm(Allocator::kMlxPolicy, ArmLimit::of(0)));
    request_.baseline = "mlx-policy unlimited";
  }
};

TEST_F(PoolArms, OnePoolProcessRunsThemAllInTurn) {
  const auto outcome = run({.noise_sd = 0.004});
  EXPECT_EQ(outcome.result.design, Design::kCrossover);
  EXPECT_EQ(outcome.result.verdict, Verdict::kShip) << outcome.result.sentence;
  EXPECT_THAT(outcome.result.sentence, HasSubstr("mlx-policy 0 keeps"));
  const auto& weir = arm(outcome, "weir 64 MiB");
  EXPECT_EQ(weir.allocator, Allocator::kWeir);
  EXPECT_EQ(weir.verdict, Verdict::kShip) << weir.sentence;
  EXPECT_EQ(weir.reached, true);
  // Probe, three rounds of footprint starts on the arms' own allocators, then speed starts on the baseline's.
  ASSERT_GT(started_on_.size(), 10u);
  EXPECT_EQ(std::count(started_on_.begin(), started_on_.begin() + 10, Allocator::kWeir), 3);
  EXPECT_EQ(std::count(started_on_.begin() + 10, started_on_.end(), Allocator::kMlxPolicy),
            static_cast<std::ptrdiff_t>(started_on_.size()) - 10);
}

TEST_F(PoolArms, AWorkerOnAnotherAllocatorIsRefusedBeforeAnythingIsSealed) {
  FakeExecutor executor(clock_, {.knows_no_allocator = true});
  const auto out = run_experiment(request_, {executor, *store_, clock_, {}, {}, {}});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(out.error().message, HasSubstr("runs on the allocator mlx, asked for mlx-policy"));
}

TEST_F(PoolArms, AnAllocatorThatIsNotSwitchedIsADeadKnob) {
  const auto outcome = run({.never_switches = true});
  EXPECT_EQ(arm(outcome, "weir 64 MiB").reason, "knob") << arm(outcome, "weir 64 MiB").sentence;
  EXPECT_THAT(arm(outcome, "weir 64 MiB").sentence,
              HasSubstr("asked for the allocator weir, ran on mlx-policy"));
  EXPECT_NE(arm(outcome, "mlx-policy 0").reason, "knob");
}

TEST_F(PoolArms, WeirKeepsNoByteAboveItsLimitAtAnyMoment) {
  const auto outcome = run({.retained_above = 1});
  const auto& weir = arm(outcome, "weir 64 MiB");
  EXPECT_EQ(weir.reason, "knob") << weir.sentence;
  EXPECT_THAT(weir.sentence, HasSubstr("retained up to 67,108,865 bytes under a limit of 67,108,864 bytes"));
  // MLX's rule keeps one buffer more while it is below.
  EXPECT_NE(arm(outcome, "mlx-policy 0").reason, "knob");
}

TEST_F(PoolArms, AnotherAllocatorThatKeepsAsMuchSavesNothingAndIsNotVoid) {
  request_.arms = {make_arm(Allocator::kMlxPolicy, ArmLimit::unlimited()),
                   make_arm(Allocator::kWeir, ArmLimit::unset())};
  const auto outcome = run({.noise_sd = 0.004});
  EXPECT_EQ(arm(outcome, "weir unset").verdict, Verdict::kClose) << arm(outcome, "weir unset").sentence;
  EXPECT_EQ(arm(outcome, "weir unset").reason, "no_saving");
  EXPECT_EQ(arm(outcome, "weir unset").reached, std::nullopt);
}

TEST_F(PoolArms, ALimitOfWeirThatNeverActedIsTold) {
  request_.arms[1] = make_arm(Allocator::kWeir, ArmLimit::of(300 * kMiB));
  const auto told = [](const Outcome& outcome) {
    const auto& findings = outcome.result.cells[0].checks_failed;
    return std::any_of(findings.begin(), findings.end(), [](const CheckFinding& finding) {
      return finding.id == "idle_limit" && finding.arm == "weir 300 MiB" && !finding.is_void;
    });
  };
  EXPECT_FALSE(told(run()));
  request_.cell.sha256 = "another";
  EXPECT_TRUE(told(run({.weir_demand_bytes = 100 * kMiB})));
}

TEST_F(PoolArms, TheCurveLeavesOutMlxArmsThatWereHeldAgainstAPool) {
  request_.arms.push_back(make_arm(ArmLimit::of(0)));
  auto outcome = run({.noise_sd = 0.004});
  std::vector<std::string> names;
  for (const auto& point : curve_points(outcome.result, 1))
    names.push_back(point.arm);
  EXPECT_THAT(names, testing::ElementsAre("mlx-policy unlimited", "weir 64 MiB", "mlx-policy 0"));
}

}  // namespace
}  // namespace weir::lab
