#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/experiment_fixture.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

TEST_F(Experiment, TheShortestPrefixThatReachesIsSealed) {
  const auto outcome = run();
  // 64 MiB plus 64 MiB at 2 MB a token: the first prompt of 100 tokens is enough.
  EXPECT_EQ(outcome.plan.sizes.footprint_prompts, 1);
  EXPECT_TRUE(outcome.plan.probe.reached);
  EXPECT_EQ(outcome.result.cells[0].longest_prompt_tokens, 100);
}

TEST_F(Experiment, APrefixReachesOnceItsFootprintShowsTheSaving) {
  // 200 MB are retained after the first prompt, but half of them serve the live peak again.
  const auto outcome = run({.reused_bytes = 100'000'000});
  EXPECT_EQ(outcome.plan.sizes.footprint_prompts, 2);
  EXPECT_TRUE(outcome.plan.probe.reached);
}

TEST_F(Experiment, WarmRequestsGrowUntilATurnReaches) {
  request_.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(900 * kMiB))};
  request_.cell.warm_per_turn_at_most = 4;
  EXPECT_EQ(run().plan.sizes.warm_per_turn, 2);
}

TEST_F(Experiment, QuickIsAScreenAndNeverAVerdict) {
  request_.budget = Budget::kQuick;
  request_.minutes = 1.8;
  const auto outcome = run({.noise_sd = 0.0001});
  EXPECT_EQ(outcome.result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(arm(outcome, "0").reason, "screen");
  EXPECT_THAT(outcome.result.sentence, HasSubstr("never a verdict"));
  EXPECT_EQ(outcome.plan.sizes.starts, 3);
}

TEST_F(Experiment, AScreenWhoseMachineSlowsDownKeepsItsTime) {
  request_.budget = Budget::kQuick;
  request_.minutes = 1.8;
  for (const int slow_from : {1, 3, 7, 8}) {
    request_.cell.sha256 = std::to_string(slow_from);
    const double begin = seconds(clock_.now());
    const auto outcome = run({.slowdown = [=](int start) { return start >= slow_from ? 3.5 : 1.0; }});
    EXPECT_LE(seconds(clock_.now()) - begin, 125) << slow_from;
    EXPECT_TRUE(outcome.result.complete);
    EXPECT_FALSE(outcome.interrupted);
    EXPECT_EQ(outcome.result.verdict, Verdict::kInconclusive) << slow_from << outcome.result.sentence;
    EXPECT_EQ(arm(outcome, "0").reason, "screen");
    const auto& findings = outcome.result.cells[0].checks_failed;
    const bool told = std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
      return finding.id == "time" && !finding.is_void;
    });
    EXPECT_TRUE(told) << slow_from;
  }
}

TEST_F(Experiment, APlanThatReachesAVerdictIsNotCutByTime) {
  const auto outcome = run({.noise_sd = 0.004, .slowdown = [](int start) { return start >= 9 ? 3.0 : 1.0; }});
  EXPECT_EQ(outcome.result.verdict, Verdict::kShip) << outcome.result.sentence;
  EXPECT_EQ(outcome.result.starts, outcome.plan.sizes.starts);
}

TEST_F(Experiment, TheMinutesHoldProbeFootprintsAndStarts) {
  for (const double minutes : {3.0, 5.0, 12.0}) {
    request_.minutes = minutes;
    const double begin = seconds(clock_.now());
    const auto outcome = run();
    // Every second is accounted for: the probe's, and what is stored with starts and blocks.
    EXPECT_NEAR(
        seconds(clock_.now()) - begin,
        outcome.result.elapsed_seconds + static_cast<double>(outcome.plan.probe.spent_milliseconds) / 1e3,
        0.1);
    EXPECT_LE(seconds(clock_.now()) - begin, 1.1 * 60 * minutes);
    EXPECT_GE(seconds(clock_.now()) - begin, 0.75 * 60 * minutes);
  }
}

TEST_F(Experiment, TheProbeSpendsOneTurn) {
  request_.cell.warm_per_turn_at_most = 4;
  request_.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(1500 * kMiB))};
  const auto outcome = run();
  EXPECT_EQ(outcome.plan.sizes.warm_per_turn, 3);
  // Four requests of about 200 tokens, at 200 tokens a second.
  EXPECT_NEAR(static_cast<double>(outcome.plan.probe.turn_milliseconds), 4'200, 800);
  EXPECT_GE(outcome.plan.probe.spent_milliseconds,
            outcome.plan.probe.turn_milliseconds + outcome.plan.probe.footprint_start_milliseconds);
}

TEST_F(Experiment, AScreenProbesOnlyPromptsThatItHasTimeFor) {
  request_.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(512 * kMiB))};
  request_.budget = Budget::kQuick;
  request_.minutes = 0.2;
  const auto screen = run({.retained_bytes_per_token = 1000});
  EXPECT_LT(screen.plan.sizes.footprint_prompts, 6);
  request_.budget = Budget::kDefault;
  EXPECT_EQ(run({.retained_bytes_per_token = 1000}).plan.sizes.footprint_prompts, 6);
}

TEST_F(Experiment, ScreensVoidArmsAndLoneBaselinesAreNoPointsOfACurve) {
  const auto names = [](const Outcome& outcome) {
    std::vector<std::string> out;
    for (const auto& point : curve_points(outcome.result, 7))
      out.push_back(point.arm + "=" + point.verdict);
    return out;
  };
  const auto one_void = run({.noise_sd = 0.004, .other_ids_under = "0"});
  EXPECT_THAT(names(one_void), testing::UnorderedElementsAre("unlimited=baseline", "64 MiB=SHIP"));
  EXPECT_EQ(curve_points(one_void.result, 7)[0].measured_at, 7);
  request_.seed = 2;
  EXPECT_THAT(names(run({.reports_old_limit = true})), testing::IsEmpty());
  request_.budget = Budget::kQuick;
  request_.minutes = 1.8;
  EXPECT_THAT(names(run()), testing::IsEmpty());
}

TEST_F(Experiment, AForeignWorkersCurveIsNotKept) {
  request_.worker = {"worker.py"};
  run();
  EXPECT_TRUE(value_or_throw(store_->curve_points(std::string(64, 'a'), "simulated", "fake 1")).empty());
}

}  // namespace
}  // namespace weir::lab
