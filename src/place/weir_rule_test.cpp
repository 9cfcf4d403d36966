#include <gtest/gtest.h>

#include "place/weir_rule.h"

namespace weir::place {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr WeirRule::Options kPlain{1000, 0, 0};

TEST(WeirRule, KeepsNothingBeforeAnythingWasUsed) {
  EXPECT_EQ(WeirRule(kPlain).most_retained(0), 0u);
}

TEST(WeirRule, KeepsWhatARecurrentDipFrees) {
  WeirRule rule(kPlain);
  for (Tick now = 0; now < 10'000; now += 100) {
    rule.observe(500 * kMiB, now);
    rule.observe(100 * kMiB, now + 50);
    EXPECT_EQ(rule.most_retained(100 * kMiB), 400 * kMiB) << now;
  }
}

TEST(WeirRule, LetsGoWhatNobodyNeededForTwoWindows) {
  WeirRule rule(kPlain);
  rule.observe(500 * kMiB, 10);
  rule.observe(100 * kMiB, 20);
  rule.observe(100 * kMiB, 1999);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 400 * kMiB);
  rule.observe(100 * kMiB, 2000);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 0u);
}

TEST(WeirRule, UseThatLastedThroughASilenceCounts) {
  WeirRule rule(kPlain);
  rule.observe(500 * kMiB, 10);
  rule.observe(100 * kMiB, 9000);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 400 * kMiB);
  rule.observe(100 * kMiB, 11'000);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 0u);
}

TEST(WeirRule, UseThatReachesIntoAWindowCountsThere) {
  WeirRule rule(kPlain);
  rule.observe(500 * kMiB, 10);
  rule.observe(100 * kMiB, 1500);
  rule.observe(100 * kMiB, 2999);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 400 * kMiB);
  rule.observe(100 * kMiB, 3000);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 0u);
}

TEST(WeirRule, ASilenceAfterADipForgetsThePeak) {
  WeirRule rule(kPlain);
  rule.observe(500 * kMiB, 10);
  rule.observe(100 * kMiB, 20);
  rule.observe(110 * kMiB, 9000);
  EXPECT_EQ(rule.most_retained(110 * kMiB), 0u);
}

TEST(WeirRule, AddsTheMarginAndTheConstant) {
  WeirRule rule(WeirRule::Options{1000, 5, 4 * kMiB});
  rule.observe(200 * kMiB, 0);
  EXPECT_EQ(rule.most_retained(200 * kMiB), 14 * kMiB);
  EXPECT_EQ(rule.most_retained(50 * kMiB), 164 * kMiB);
}

TEST(WeirRule, TakesTheSmallerOfLimitAndDemand) {
  WeirRule rule(kPlain);
  rule.observe(500 * kMiB, 0);
  rule.set_limit(64 * kMiB);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 64 * kMiB);
  EXPECT_EQ(rule.most_retained(490 * kMiB), 10 * kMiB);
  rule.set_limit(0);
  EXPECT_EQ(rule.most_retained(100 * kMiB), 0u);
}

TEST(WeirRule, UseAboveEveryPeakKeepsNothing) {
  WeirRule rule(kPlain);
  rule.observe(100 * kMiB, 0);
  EXPECT_EQ(rule.most_retained(200 * kMiB), 0u);
}

}  // namespace
}  // namespace weir::place
