#include "lab/samples.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/analysis.h"
#include "lab/noise.h"

namespace weir::lab {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

Plan plan(Budget budget = Budget::kDefault) {
  Plan out;
  out.question.arms = {make_arm(ArmLimit::of(0)), make_arm(ArmLimit::unlimited())};
  out.question.baseline = "unlimited";
  out.question.budget = budget;
  out.sizes.starts = 24;
  out.sizes.blocks_per_start = 1;
  out.sizes.footprint_starts_per_arm = 3;
  out.sizes.looks = budget == Budget::kDecide ? 3 : 1;
  return out;
}

/// A turn of these rates, in tokens a second.
TurnRecord turn(int arm, bool second, double prefill, double decode) {
  TurnRecord out;
  out.arm = arm;
  out.second = second;
  if (arm == 0) out.in_force_bytes = 0;
  out.retained_peak_bytes = arm == 0 ? 0 : 1'000'000'000;
  out.measured = {{"m", 100, 9, "length", "0", 100 / prefill, 8 / decode}};
  return out;
}

BlockRecord block(int start, double arm, double first, double second) {
  return {
      start, 0, {turn(0, false, arm, arm), turn(1, true, second, second), turn(1, false, first, first)}, 1};
}

FootprintRecord footprint(int index, int arm, std::int64_t low, std::int64_t high) {
  FootprintRecord out;
  out.index = index;
  out.arm = arm;
  if (arm == 0) out.in_force_bytes = 0;
  out.footprint_peak_low_bytes = low;
  out.footprint_peak_high_bytes = high;
  out.retained_peak_bytes = arm == 0 ? 0 : 1'000'000'000;
  return out;
}

TEST(Samples, RatesCountTheTokensThatTookTheTime) {
  const auto one = turn(0, false, 200, 16);
  EXPECT_DOUBLE_EQ(prefill_rate(one), 200);
  EXPECT_DOUBLE_EQ(decode_rate(one), 16);  // the first token belongs to prefill: eight of nine
}

TEST(Samples, AnArmIsHeldAgainstBothTurnsOfTheBaseline) {
  Records records;
  records.blocks = {block(0, 10, 5, 20), block(1, 10, 20, 5), block(2, 20, 10, 10)};
  const auto samples = collect(plan(), records, 3);
  EXPECT_THAT(samples.arms[0].decode,
              ElementsAre(DoubleNear(0, 1e-12), DoubleNear(0, 1e-12), DoubleNear(std::log(2), 1e-12)));
  EXPECT_THAT(
      samples.equal.decode_blocks,
      ElementsAre(DoubleNear(std::log(4), 1e-12), DoubleNear(-std::log(4), 1e-12), DoubleNear(0, 1e-12)));
}

TEST(Samples, AStartIsOneValueAndALookSeesItsStartsOnly) {
  Records records;
  records.blocks = {block(0, 10, 10, 10), block(0, 40, 10, 10), block(1, 10, 10, 10), block(5, 99, 1, 1)};
  EXPECT_THAT(collect(plan(), records, 2).arms[0].prefill,
              ElementsAre(DoubleNear(std::log(4) / 2, 1e-12), DoubleNear(0, 1e-12)));
  EXPECT_EQ(collect(plan(), records, 6).arms[0].prefill.size(), 3u);
}

TEST(Samples, SavingsKeepBothEndsOfThePeaks) {
  Records records;
  records.footprints = {footprint(0, 1, 900, 1'000), footprint(1, 0, 300, 350), footprint(2, 0, 1, 1)};
  const auto samples = collect(plan(), records, 1);
  const auto& arm = samples.arms[0];
  EXPECT_THAT(arm.saved_low, ElementsAre(550));  // the second round has no baseline yet
  EXPECT_THAT(arm.saved_mid, ElementsAre(650));
  EXPECT_THAT(arm.saved_high, ElementsAre(700));
}

TEST(Noise, AnArmHasThreeQuartersOfTheVarianceOfOneTurnAgainstAnother) {
  Records records;
  for (int start = 0; start < 24; ++start)
    records.blocks.push_back(block(start, 10, start % 2 == 0 ? 10 : 11, 10));
  const auto floors = noise_floors(plan(), records);
  ASSERT_EQ(floors.size(), 2u);
  EXPECT_NEAR(floors[0].sd_pair, std::log(1.1) / 2 * std::sqrt(24.0 / 23), 1e-9);
  EXPECT_NEAR(floors[0].sd_start, std::sqrt(0.75) * floors[0].sd_pair, 1e-9);
  EXPECT_NEAR(floors[0].bias, std::exp(-std::log(1.1) / 2), 1e-9);
}

TEST(Noise, BlocksThatCancelWithinAStartStillCount) {
  Plan two = plan();
  two.sizes.blocks_per_start = 2;
  Records records;
  for (int start = 0; start < 24; ++start) {
    records.blocks.push_back(block(start, 10, 11, 10));
    records.blocks.push_back(block(start, 10, 10, 11));
  }
  const auto floors = noise_floors(two, records);
  EXPECT_NEAR(floors[0].sd_start, std::sqrt(0.75 / 2) * floors[0].sd_pair, 1e-9);
  EXPECT_GT(floors[0].sd_pair, 0.09);
}

TEST(Looks, AnArmKeepsTheVerdictOfTheLookThatDecidedIt) {
  Records records;
  for (int index = 0; index < 6; ++index)
    records.footprints.push_back(index % 2 == 1 ? footprint(index, 1, 2'000'000'000, 2'001'000'000)
                                                : footprint(index, 0, 1'000'000'000, 1'000'500'000 + index));
  for (int start = 0; start < 8; ++start)
    records.blocks.push_back(block(start, 100 + 0.1 * (start % 3), 100, 100));
  const auto decide = plan(Budget::kDecide);
  EXPECT_TRUE(standing(decide, records).finished);
  EXPECT_EQ(standing(decide, records).looks_done, 1);
  // What comes later, even if it is slow beyond doubt, changes nothing.
  for (int start = 8; start < 24; ++start)
    records.blocks.push_back(block(start, 50, 100, 100 + start % 2));
  const auto result = analyse(decide, {}, records);
  EXPECT_EQ(result.looks_done, 1);
  EXPECT_EQ(result.cells[0].arms[0].verdict, Verdict::kShip) << result.sentence;
}

TEST(Looks, OneOfTwoArmsMayBeDecidedEarlier) {
  Plan three = plan(Budget::kDecide);
  three.question.arms.push_back(make_arm(ArmLimit::of(64 << 20)));
  Records records;
  for (int round = 0; round < 3; ++round) {
    records.footprints.push_back(footprint(round * 3, 1, 2'000'000'000, 2'001'000'000 + round));
    records.footprints.push_back(footprint(round * 3 + 1, 0, 1'000'000'000, 1'000'500'000));
    records.footprints.push_back(footprint(round * 3 + 2, 2, 1'000'000'000, 1'000'500'000));
    records.footprints.back().in_force_bytes = 64 << 20;
    records.footprints.back().page_faults = 5'000;
  }
  for (int start = 0; start < 24; ++start) {
    // Arm 0 is equal for the first look and slow afterwards; arm 2 stands at the margin all along.
    auto one = block(start, start < 8 ? 100 + 0.1 * (start % 3) : 50, 100, 100);
    const double at_margin = 98 + (start % 2 == 0 ? 3.0 : -3.0);
    one.turns.push_back(turn(2, false, at_margin, at_margin));
    one.turns.back().in_force_bytes = 64 << 20;
    records.blocks.push_back(one);
  }
  const auto result = analyse(three, {}, records);
  EXPECT_EQ(result.looks_done, 3);
  EXPECT_EQ(result.cells[0].arms[0].verdict, Verdict::kShip) << result.cells[0].arms[0].sentence;
  EXPECT_EQ(result.cells[0].arms[2].verdict, Verdict::kInconclusive) << result.cells[0].arms[2].sentence;
}

}  // namespace
}  // namespace weir::lab
