#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/analysis.h"
#include "lab/experiment_fixture.h"
#include "lab/journal.h"
#include "lab/result_json.h"
#include "lab/schedule.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

TEST_F(Experiment, ShipsWhatSavesAndCostsNothing) {
  const auto outcome = run({.noise_sd = 0.004});
  EXPECT_EQ(outcome.result.verdict, Verdict::kShip) << outcome.result.sentence;
  EXPECT_EQ(outcome.result.recommended, "0");
  EXPECT_THAT(outcome.result.sentence, testing::AllOf(HasSubstr("0 keeps "), HasSubstr("decode loses")));
  const auto& small = arm(outcome, "64 MiB");
  EXPECT_EQ(small.verdict, Verdict::kShip) << small.sentence;
  EXPECT_EQ(small.reached, true);
  EXPECT_EQ(small.cache_limit_bytes, 64 * kMiB);
  EXPECT_GT(small.change.at(kDecode).lower, 0.98);
  EXPECT_TRUE(outcome.result.complete);
  ASSERT_EQ(outcome.result.cells[0].noise.size(), 2u);
  EXPECT_NEAR(outcome.result.cells[0].noise[0].sd_pair, 0.004 * 1.41, 0.0015);
  EXPECT_TRUE(outcome.result.cells[0].noise[0].minutes_for_margin);
}

TEST_F(Experiment, ClosesAnArmThatIsThirtyPercentSlower) {
  const auto outcome = run({.speed = {{"64 MiB", 0.7}, {"0", 0.7}}});
  EXPECT_EQ(outcome.result.verdict, Verdict::kClose);
  EXPECT_EQ(arm(outcome, "0").reason, "cost");
  EXPECT_THAT(arm(outcome, "0").sentence, HasSubstr("0 costs "));
  EXPECT_EQ(outcome.result.recommended, std::nullopt);
}

TEST_F(Experiment, ClosesAnArmThatSavesNothing) {
  const auto outcome = run({.limit_saves_nothing = true});
  EXPECT_EQ(arm(outcome, "64 MiB").verdict, Verdict::kClose) << arm(outcome, "64 MiB").sentence;
  EXPECT_EQ(arm(outcome, "64 MiB").reason, "no_saving");
}

TEST_F(Experiment, CannotTellInTheNoise) {
  const auto outcome = run({.noise_sd = 0.4});
  EXPECT_EQ(outcome.result.verdict, Verdict::kInconclusive);
  EXPECT_THAT(outcome.result.sentence, HasSubstr("cannot tell"));
  EXPECT_THAT(outcome.result.sentence, HasSubstr("more starts"));
}

TEST_F(Experiment, AKnobThatReadsBackTheOldValueIsVoid) {
  const auto outcome = run({.reports_old_limit = true});
  EXPECT_EQ(outcome.result.verdict, Verdict::kVoid);
  EXPECT_EQ(arm(outcome, "0").reason, "knob");
  EXPECT_THAT(arm(outcome, "0").sentence, HasSubstr("read back"));
}

TEST_F(Experiment, AKnobThatOnlyPretendsIsVoid) {
  const auto outcome = run({.keeps_everything = true});
  EXPECT_EQ(arm(outcome, "64 MiB").reason, "knob");
  EXPECT_THAT(arm(outcome, "64 MiB").sentence, HasSubstr("at rest under a limit of 67,108,864 bytes"));
}

TEST_F(Experiment, ArmsThatNothingTellsApartAreVoid) {
  // Both bounds lie above what one buffer may exceed, so only their effects can tell.
  request_.arms = {make_arm(ArmLimit::of(700 * kMiB)), make_arm(ArmLimit::of(701 * kMiB))};
  request_.baseline = "700 MiB";
  const auto outcome = run();
  EXPECT_EQ(arm(outcome, "701 MiB").reason, "indistinguishable") << arm(outcome, "701 MiB").sentence;
}

TEST_F(Experiment, ALimitThatIsNeverReachedIsVoidWithBothFigures) {
  request_.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(512 * kMiB))};
  const auto outcome = run({.retained_bytes_per_token = 1000});
  const auto& limited = arm(outcome, "512 MiB");
  EXPECT_EQ(outcome.result.verdict, Verdict::kVoid);
  EXPECT_EQ(limited.reached, false);
  EXPECT_EQ(limited.reason, "not_reached");
  EXPECT_THAT(limited.sentence,
              testing::AllOf(HasSubstr("536,870,912 bytes"), HasSubstr("retained at most 1,155,000 bytes")));
  EXPECT_EQ(outcome.result.pairs, 0);  // no speed start is spent on it
  EXPECT_EQ(outcome.plan.sizes.footprint_prompts, 6);
}

TEST_F(Experiment, OtherTokensAreVoid) {
  const auto outcome = run({.other_ids_under = "0"});
  EXPECT_EQ(arm(outcome, "0").reason, "work");
  EXPECT_THAT(arm(outcome, "0").sentence, HasSubstr("ids ffff"));
  EXPECT_NE(arm(outcome, "64 MiB").verdict, Verdict::kVoid);
}

TEST_F(Experiment, AVoidArmLeadsBeforeAClosedOne) {
  const auto outcome = run({.speed = {{"64 MiB", 0.7}}, .other_ids_under = "0"});
  EXPECT_EQ(arm(outcome, "64 MiB").verdict, Verdict::kClose);
  EXPECT_EQ(outcome.result.verdict, Verdict::kVoid);
  EXPECT_EQ(outcome.result.sentence, arm(outcome, "0").sentence);
}

TEST_F(Experiment, RunsBlocksInTheScheduledOrder) {
  const auto outcome = run();
  auto stored = value_or_throw(store_->blocks(outcome.result.seal));
  int seen = 0;
  for (const auto& row : stored) {
    if (row.kind != store::StartKind::kSpeed) continue;
    const auto block = value_or_throw(block_from_json(row.json));
    const auto expected = schedule(outcome.plan, request_.cell, block.start, block.block);
    for (std::size_t i = 0; i < block.turns.size(); ++i) {
      EXPECT_EQ(block.turns[i].arm, expected.turns[i].arm);
      EXPECT_EQ(block.turns[i].measured[0].prompt_tokens, expected.measured[0].prompt_tokens);
    }
    ++seen;
  }
  EXPECT_EQ(seen, outcome.plan.sizes.starts * outcome.plan.sizes.blocks_per_start);
}

TEST_F(Experiment, GoesOnAfterAnAbortAnywhere) {
  request_.minutes = 1;
  run();
  const int whole = requests_;
  for (int stop_at = 3; stop_at < whole; stop_at += std::max(1, whole / 23)) {
    request_.cell.sha256 = std::to_string(stop_at);  // a question of its own
    int asked = 0;
    before_request_ = [&] {
      if (++asked == stop_at) throw std::runtime_error("killed");
    };
    EXPECT_THROW(run(), std::runtime_error);
    before_request_ = {};
    const auto outcome = run();
    EXPECT_TRUE(outcome.result.complete);
    const auto rows = value_or_throw(store_->blocks(outcome.result.seal));
    EXPECT_EQ(static_cast<int>(rows.size()), outcome.plan.sizes.starts * outcome.plan.sizes.blocks_per_start +
                                                 outcome.plan.sizes.footprint_starts_per_arm * 3)
        << stop_at;
    EXPECT_EQ(outcome.result.void_pairs, 0);
  }
}

TEST_F(Experiment, AnInterruptKeepsWhatIsMeasuredAndGivesNoVerdict) {
  int asked = 0;
  interrupted_ = [&] { return ++asked > 60; };
  const auto outcome = run();
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_EQ(outcome.result.verdict, Verdict::kInconclusive);
  EXPECT_EQ(arm(outcome, "0").reason, "interrupted");
  interrupted_ = {};
  const auto rest = run();
  EXPECT_TRUE(rest.resumed);
  EXPECT_EQ(rest.result.seal, outcome.result.seal);
  EXPECT_TRUE(rest.result.complete);
}

TEST_F(Experiment, AWorkerThatAnInterruptBreaksIsNoFailedStart) {
  FakeBehaviour behaviour;
  bool broken = false;
  // The signal reaches the worker as well: it dies in the middle of a request.
  behaviour.dies = [&](int start, int request) { return broken = broken || (start == 12 && request == 6); };
  interrupted_ = [&] { return broken; };
  EXPECT_TRUE(run(behaviour).interrupted);
  interrupted_ = {};
  const auto rest = run();
  EXPECT_TRUE(rest.resumed);
  EXPECT_EQ(rest.result.void_pairs, 0);
}

TEST_F(Experiment, AfreshClosesTheUnfinishedPlan) {
  int asked = 0;
  interrupted_ = [&] { return ++asked > 60; };
  const auto first = run();
  interrupted_ = {};
  request_.start_afresh = true;
  request_.seed = 12;
  const auto second = run();
  EXPECT_NE(second.result.seal, first.result.seal);
  EXPECT_EQ(value_or_throw(store_->plan(first.result.seal))->state, store::PlanState::kVoid);
}

TEST_F(Experiment, AFailedStartIsTriedAgainAndCounted) {
  const auto outcome =
      run({.noise_sd = 0.004, .dies = [](int start, int request) { return start == 12 && request == 6; }});
  EXPECT_TRUE(outcome.result.complete);
  EXPECT_EQ(outcome.result.void_pairs, 2);
  EXPECT_EQ(outcome.result.starts, outcome.plan.sizes.starts);
}

TEST_F(Experiment, TooManyLostPairsVoidEverything) {
  const auto outcome = run({.dies = [](int start, int request) { return start > 11 && request > 8; }});
  EXPECT_EQ(outcome.result.verdict, Verdict::kVoid);
  EXPECT_EQ(arm(outcome, "0").reason, "void_pairs") << arm(outcome, "0").sentence;
}

TEST_F(Experiment, AnArmWhoseFootprintStartsAllFailIsVoid) {
  FakeBehaviour behaviour;
  // The worker dies in its first request, right after the switch to no retention at all.
  behaviour.dies_under = "0";
  const auto outcome = run(behaviour);
  EXPECT_EQ(arm(outcome, "0").verdict, Verdict::kVoid);
  EXPECT_EQ(arm(outcome, "0").reason, "failed_starts") << arm(outcome, "0").sentence;
  EXPECT_THAT(arm(outcome, "0").sentence, HasSubstr("no footprint start of 0 ended well"));
}

TEST_F(Experiment, ABaselineThatNeverEndsWellVoidsEveryArm) {
  const auto outcome = run({.dies_under = "unlimited", .dies_from = 1});
  EXPECT_EQ(arm(outcome, "0").reason, "failed_starts");
  EXPECT_EQ(arm(outcome, "64 MiB").reason, "failed_starts");
  EXPECT_THAT(arm(outcome, "64 MiB").sentence, HasSubstr("no footprint start of unlimited"));
}

TEST_F(Experiment, AClearCaseStopsAtAnEarlyLook) {
  request_.budget = Budget::kDecide;
  request_.minutes = 40;
  const auto outcome = run({.noise_sd = 0.002});
  EXPECT_EQ(outcome.result.looks, 3);
  EXPECT_LT(outcome.result.looks_done, 3);
  EXPECT_LT(outcome.result.starts, outcome.result.starts_planned);
  EXPECT_EQ(outcome.result.verdict, Verdict::kShip);
}

TEST_F(Experiment, TheResultSurvivesJsonAndIsStoredWithItsCurve) {
  const auto outcome = run();
  const auto text = to_json(outcome.result);
  const auto again = result_from_json(text);
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(to_json(*again), text);
  EXPECT_THAT(text, testing::AllOf(HasSubstr("\"predicted\": null"), HasSubstr("\"footprint_peak_bytes\"")));
  const auto stored = value_or_throw(store_->latest_result(outcome.result.seal.substr(0, 8)));
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->json, text);
  EXPECT_EQ(value_or_throw(store_->curve_points(std::string(64, 'a'), "simulated", "fake 1")).size(), 3u);
  EXPECT_FALSE(result_from_json("{}"));
}

}  // namespace
}  // namespace weir::lab
