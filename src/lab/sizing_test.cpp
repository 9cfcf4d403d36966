#include "lab/sizing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::lab {
namespace {

Question question(Budget budget, double minutes, int arms = 4) {
  Question out;
  out.model = "m";
  const Arm all[] = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::unset()),
                     make_arm(ArmLimit::of(64 << 20)), make_arm(ArmLimit::of(0))};
  out.arms.assign(all, all + arms);
  out.baseline = "unlimited";
  out.budget = budget;
  out.minutes = minutes;
  return out;
}

/// A probe whose own time is what it saw once.
Probe probe(std::int64_t load, std::int64_t turn, std::int64_t footprint) {
  return {load, turn, footprint, 0, 0, true, footprint + turn};
}

double whole_seconds(const Question& q, const Probe& p, const DesignSizes& sizes) {
  const Plan plan{q, sizes, p, 0, ""};
  return static_cast<double>(p.spent_milliseconds) / 1e3 + expected_footprint_seconds(plan) +
         expected_speed_seconds(plan);
}

TEST(Sizing, FillsTheMinutesAndNoMore) {
  for (const auto& p : {probe(1'500, 3'000, 6'000), probe(500, 1'500, 3'000), probe(400, 5'000, 8'000)}) {
    const auto q = question(Budget::kDefault, 5);
    const auto sizes = choose_sizes(q, p, {}, 100);
    EXPECT_LE(whole_seconds(q, p, sizes), 0.95 * 300);
    EXPECT_GE(whole_seconds(q, p, sizes), 0.75 * 300);
    EXPECT_TRUE(check_plan({q, sizes, p, 0, ""}));
  }
}

TEST(Sizing, TheProbeIsAPartOfTheMinutes) {
  const auto q = question(Budget::kDefault, 5);
  auto p = probe(500, 1'500, 3'000);
  const auto cheap = choose_sizes(q, p, {}, 100);
  p.spent_milliseconds = 80'000;
  const auto dear = choose_sizes(q, p, {}, 100);
  EXPECT_LT(dear.starts * dear.blocks_per_start, cheap.starts * cheap.blocks_per_start);
  EXPECT_LE(whole_seconds(q, p, dear), 285);
}

TEST(Sizing, TakesTheSmallestExpectedEffectOfAllThatFit) {
  const auto q = question(Budget::kDefault, 5);
  for (const auto& p : {probe(500, 1'500, 3'000), probe(500, 300, 1'000), probe(10'000, 1'000, 6'000)}) {
    const auto chosen = choose_sizes(q, p, {}, 100);
    const double level = smallest_ship_level({q, chosen, p, 0, ""});
    const double mine = expected_effect(chosen.starts, chosen.blocks_per_start, level);
    DesignSizes other = chosen;
    for (other.starts = 8; other.starts <= 60; ++other.starts)
      for (other.blocks_per_start = 1; other.blocks_per_start <= 50; ++other.blocks_per_start) {
        if (whole_seconds(q, p, other) > 285) continue;
        EXPECT_GE(expected_effect(other.starts, other.blocks_per_start, level), mine * 0.998)
            << other.starts << " x " << other.blocks_per_start;
      }
  }
}

TEST(Sizing, CheapStartsGiveManyAndDearStartsGiveFewWithMoreBlocks) {
  const auto q = question(Budget::kDefault, 5);
  const auto cheap = choose_sizes(q, probe(500, 1'500, 3'000), {}, 100);
  EXPECT_GE(cheap.starts, 12);
  const auto dear = choose_sizes(q, probe(15'000, 500, 3'000), {}, 100);
  EXPECT_LT(dear.starts, cheap.starts);
  EXPECT_GT(dear.blocks_per_start, cheap.blocks_per_start);
}

TEST(Sizing, AStartOfItsOwnShiftIsNotHealedByBlocks) {
  EXPECT_LT(expected_effect(16, 2, 0.05), expected_effect(8, 4, 0.05));
  EXPECT_LT(expected_effect(8, 4, 0.05), expected_effect(8, 2, 0.05));
  EXPECT_NEAR(expected_effect(8, 1000, 0.05) / expected_effect(8, 1, 0.05), 0.3 / 1.044, 0.01);
}

TEST(Sizing, EightStartsForCloseWhereTheyFitAndElseTheFloorOfShip) {
  auto q = question(Budget::kDefault, 5);
  EXPECT_GE(choose_sizes(q, probe(500, 4'500, 6'000), {}, 100).starts, 8);
  // Here six starts would have the smallest effect, and could not close.
  const auto dear = choose_sizes(q, probe(25'000, 500, 3'000), {}, 100);
  EXPECT_EQ(dear.starts, 8);
  EXPECT_LT(expected_effect(6, 6, 0.05 / 3), expected_effect(8, dear.blocks_per_start, 0.05 / 3));
  q.minutes = 2.9;
  const auto tight = choose_sizes(q, probe(500, 3'500, 4'000), {}, 100);
  EXPECT_EQ(tight.starts, 6);
  EXPECT_EQ(tight.blocks_per_start, 1);
  q.minutes = 0.1;
  const auto floor = choose_sizes(q, probe(1'500, 3'000, 6'000), {}, 100);
  EXPECT_EQ(floor.starts, 6);
  EXPECT_EQ(floor.blocks_per_start, 1);
  EXPECT_EQ(floor.footprint_starts_per_arm, 2);
}

TEST(Sizing, OneTreatmentNeedsFewerStarts) {
  const auto floor = choose_sizes(question(Budget::kDecide, 0.1, 2), probe(500, 1'000, 1'000), {}, 100);
  EXPECT_EQ(floor.starts, 6);
  EXPECT_EQ(floor.looks, 3);
}

TEST(Sizing, DecideComesInThrees) {
  const auto q = question(Budget::kDecide, 30);
  const auto p = probe(1'500, 3'000, 6'000);
  const auto sizes = choose_sizes(q, p, {}, 100);
  EXPECT_EQ(sizes.looks, 3);
  EXPECT_EQ(sizes.starts % 3, 0);
  EXPECT_LE(whole_seconds(q, p, sizes), 0.95 * 1'800);
  EXPECT_TRUE(check_plan({q, sizes, p, 0, ""}));
}

TEST(Sizing, AScreenFitsItsTimeOnFastAndSlowMachines) {
  const auto q = question(Budget::kQuick, 1.8);
  const auto fast = choose_sizes(q, probe(400, 1'500, 2'000), {}, 100);
  EXPECT_EQ(fast.starts, 3);
  EXPECT_GE(fast.blocks_per_start, 2);
  EXPECT_EQ(fast.footprint_starts_per_arm, 2);
  const auto slow_probe = probe(400, 5'000, 8'000);
  const auto slow = choose_sizes(q, slow_probe, {}, 100);
  EXPECT_EQ(slow.starts, 3);
  EXPECT_EQ(slow.blocks_per_start, 1);
  EXPECT_EQ(slow.footprint_starts_per_arm, 1);
  EXPECT_LE(whole_seconds(q, probe(400, 1'500, 2'000), fast), 108);
}

TEST(Sizing, NeverAsksForLengthsThatACellDoesNotHave) {
  EXPECT_LE(choose_sizes(question(Budget::kDefault, 5), probe(100, 10, 100), {}, 4).blocks_per_start, 4);
}

TEST(Sizing, KeepsWhatTheProbeDecided) {
  DesignSizes before;
  before.footprint_prompts = 5;
  before.warm_per_turn = 3;
  const auto sizes = choose_sizes(question(Budget::kDefault, 5), probe(100, 10, 100), before, 4);
  EXPECT_EQ(sizes.footprint_prompts, 5);
  EXPECT_EQ(sizes.warm_per_turn, 3);
}

TEST(OutOfTime, IsWhatAScreenWouldExceedWithItsNextPiece) {
  Plan plan{question(Budget::kQuick, 1), {}, probe(1'000, 1'000, 5'000), 0, ""};
  plan.sizes.footprint_starts_per_arm = 1;
  Records records;
  EXPECT_FALSE(out_of_time(plan, records));
  records.footprints.resize(4);
  for (auto& record : records.footprints)
    record.seconds = 6;  // 30 s are gone, of 66
  EXPECT_FALSE(out_of_time(plan, records));
  records.blocks.resize(1);
  records.blocks[0].seconds = 17.9;
  EXPECT_FALSE(out_of_time(plan, records));
  records.blocks[0].seconds = 18.1;
  EXPECT_TRUE(out_of_time(plan, records));
  EXPECT_NEAR(screen_seconds_left(plan, records), 66 - 30 - 18.1, 1e-9);
  plan.question.budget = Budget::kDefault;
  EXPECT_FALSE(out_of_time(plan, records));
}

}  // namespace
}  // namespace weir::lab
