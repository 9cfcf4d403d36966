#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "stats/holm.h"
#include "stats/one_sided.h"
#include "stats/order_check.h"
#include "stats/sizing.h"
#include "stats/student_t.h"
#include "stats/summary.h"
#include "stats/wilcoxon.h"

namespace weir::stats {
namespace {

using testing::ElementsAre;

TEST(Summary, KeepsItsDigitsFarFromZero) {
  const std::vector<double> d = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  EXPECT_NEAR(summarize(d).sd, std::sqrt(30.0), 1e-9);
  EXPECT_EQ(summarize(d).median, 1e9 + 10);
}

TEST(Summary, OfNothingOrOneValueHasNoSpread) {
  EXPECT_EQ(summarize({}).n, 0U);
  EXPECT_EQ(summarize(std::vector<double>{3.0}).sd, 0.0);
  EXPECT_EQ(summarize(std::vector<double>{3.0}).median, 3.0);
}

TEST(StudentT, WithoutSpreadDecidesByTheSideAndNeverAtTheMarginItself) {
  const std::vector<double> d = {2, 2, 2};
  EXPECT_EQ(t_p_above(d, 1), 0);
  EXPECT_EQ(t_p_below(d, 1), 1);
  EXPECT_EQ(t_p_above(d, 2), 1);
  EXPECT_EQ(t_p_below(d, 2), 1);
  EXPECT_EQ(t_lower_bound(d, 0.05), 2.0);
}

TEST(StudentT, SaysNothingOfOneValue) {
  const std::vector<double> d = {2};
  EXPECT_EQ(t_p_above(d, 0), 1);
  EXPECT_EQ(t_lower_bound(d, 0.05), std::nullopt);
  EXPECT_EQ(t_upper_bound(d, 0.05), std::nullopt);
}

TEST(StudentT, RefusesALevelThatIsNone) {
  EXPECT_THROW((void)t_lower_bound(std::vector<double>{1, 2}, 0.0), Failure);
  EXPECT_THROW((void)t_lower_bound(std::vector<double>{1, 2}, 1.0), Failure);
}

TEST(SignedRank, NullIsExactUpToFiftyTwo) {
  // For n = 52 every probability is a whole count over 2^52, and the counts add up to 2^52.
  const auto null = signed_rank_null(52);
  ASSERT_EQ(null.size(), 52U * 53 / 2 + 1);
  double total = 0;
  for (std::size_t w = 0; w < null.size(); ++w) {
    const double count = std::ldexp(null[w], 52);
    EXPECT_EQ(count, std::floor(count)) << w;
    EXPECT_EQ(null[w], null[null.size() - 1 - w]) << w;
    total += count;
  }
  EXPECT_EQ(total, std::ldexp(1.0, 52));
  // Counts of W+ = 0 … 10 are the partitions into distinct parts.
  const double distinct[] = {1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10};
  for (std::size_t w = 0; w < std::size(distinct); ++w)
    EXPECT_EQ(std::ldexp(null[w], 52), distinct[w]);
}

TEST(SignedRank, NullKeepsItsSumAtSixty) {
  const auto null = signed_rank_null(60);
  EXPECT_NEAR(std::accumulate(null.begin(), null.end(), 0.0), 1.0, 1e-14);
  EXPECT_EQ(null[0], std::ldexp(1.0, -60));
}

TEST(HodgesLehmann, RanksMatchTheTable) {
  const int n[] = {5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 24, 30};
  const std::map<double, std::vector<int>> table = {
      {0.05, {1, 3, 4, 6, 9, 11, 14, 18, 26, 36, 48, 61, 92, 152}},
      {0.025, {0, 1, 3, 4, 6, 9, 11, 14, 22, 30, 41, 53, 82, 138}},
      {0.01, {0, 0, 1, 2, 4, 6, 8, 10, 16, 24, 33, 44, 70, 121}},
  };
  for (const auto& [alpha, ranks] : table) {
    for (std::size_t i = 0; i < ranks.size(); ++i)
      EXPECT_EQ(hodges_lehmann_rank(n[i], alpha).value_or(0), ranks[i]) << "n " << n[i] << " alpha " << alpha;
  }
}

TEST(HodgesLehmann, HasNoBoundWhereTheLevelCannotBeReached) {
  const std::vector<double> d = {1, 2, 3, 4};
  EXPECT_EQ(hodges_lehmann_lower_bound(d, 0.05), std::nullopt);
  EXPECT_EQ(lower_bound(d, 0.05), std::nullopt);
  EXPECT_EQ(upper_bound(d, 0.05), std::nullopt);
  EXPECT_EQ(wilcoxon_p_above(d, 0), 1.0 / 16);
}

TEST(Wilcoxon, CountsZerosAgainstTheClaim) {
  // One zero of three: ranks 1 (the zero), 2, 3; against either claim it is the smallest rank, so W- = 1.
  const std::vector<double> d = {0, 1, 2};
  EXPECT_EQ(wilcoxon_p_above(d, 0), 2.0 / 8);
  EXPECT_EQ(wilcoxon_p_below(d, 0), 1.0);
  EXPECT_EQ(wilcoxon_p_above(std::vector<double>{0, 0, 0}, 0), 1.0);
  EXPECT_EQ(wilcoxon_p_below(std::vector<double>{0, 0, 0}, 0), 1.0);
}

TEST(Wilcoxon, BreaksTiesAgainstTheClaim) {
  // 1 and -1 tie: against "above" the negative one takes rank 2, against "below" rank 1.
  const std::vector<double> d = {1, -1, 3};
  EXPECT_EQ(wilcoxon_p_above(d, 0), 3.0 / 8);  // W- = 2: patterns {}, {1}, {2}
  EXPECT_EQ(wilcoxon_p_below(d, 0), 7.0 / 8);  // W+ = 2 + 3: all patterns but {1, 2, 3}
}

TEST(Wilcoxon, NeverRejectsMoreThanAFairCoinWouldBreakTies) {
  // All sign patterns of tied magnitudes: the share with p <= alpha must not pass alpha.
  const double magnitudes[] = {0, 1, 1, 1, 2, 2, 3, 3};
  for (const double alpha : {0.01, 0.05, 0.1, 0.25}) {
    int rejected = 0;
    for (unsigned pattern = 0; pattern < 256; ++pattern) {
      std::vector<double> d;
      for (unsigned i = 0; i < 8; ++i)
        d.push_back((pattern >> i & 1U) != 0 ? magnitudes[i] : -magnitudes[i]);
      if (wilcoxon_p_above(d, 0) <= alpha) ++rejected;
    }
    EXPECT_LE(rejected, alpha * 256);
  }
}

TEST(OneSided, BoundAndPAgreeAtEveryMargin) {
  const std::vector<double> d = {0.011, -0.004, 0.02, 0.013, 0.013, 0.007, -0.001, 0.016};
  for (const double alpha : {0.05, 0.05 / 3, 0.05 / 9}) {
    for (double theta0 = -0.02; theta0 < 0.03; theta0 += 0.00037) {
      EXPECT_EQ(p_above(d, theta0) <= alpha, lower_bound(d, alpha)->value > theta0) << theta0;
      EXPECT_EQ(p_below(d, theta0) <= alpha, upper_bound(d, alpha)->value < theta0) << theta0;
    }
  }
}

TEST(OneSided, TakesTheWorseMethod) {
  // At the smallest p of all the rank bound is the extreme value; a far outlier makes t the worse one.
  const std::vector<double> close = {1.0, 1.01, 1.02, 1.03, 1.04, 1.05};
  EXPECT_EQ(lower_bound(close, 0.05 / 3)->value, 1.0);
  EXPECT_EQ(lower_bound(close, 0.05 / 3)->method, Method::kHodgesLehmann);
  const std::vector<double> outlier = {1.0, 1.01, 1.02, 1.03, 1.04, 9.0};
  EXPECT_EQ(lower_bound(outlier, 0.05)->method, Method::kStudentT);
  EXPECT_LT(lower_bound(outlier, 0.05)->value, 1.0);
  EXPECT_STREQ(name(Method::kHodgesLehmann), "HL");
  EXPECT_STREQ(name(Method::kStudentT), "t");
}

TEST(SignFlip, IsExactAndLimited) {
  EXPECT_EQ(sign_flip_p_above(std::vector<double>(20, 1.0), 0), std::ldexp(1.0, -20));
  EXPECT_EQ(sign_flip_p_above(std::vector<double>(21, 1.0), 0), std::nullopt);
  EXPECT_EQ(sign_flip_p_above({}, 0), std::nullopt);
  EXPECT_EQ(sign_flip_p_above(std::vector<double>{0.3, 0.3, 0.3}, 0.3), 1.0);
}

TEST(Holm, AdjustsAndStopsAtTheFirstFailure) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const auto steps = holm(p, 0.05);
  std::vector<double> adjusted;
  std::vector<double> levels;
  std::vector<bool> rejected;
  for (const auto& step : steps) {
    adjusted.push_back(step.adjusted_p);
    levels.push_back(step.level);
    rejected.push_back(step.rejected);
  }
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") = 0.03 0.06 0.06 0.02
  EXPECT_THAT(adjusted, ElementsAre(0.03, 0.06, 0.06, 0.02));
  EXPECT_THAT(rejected, ElementsAre(true, false, false, true));
  EXPECT_THAT(levels, ElementsAre(0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4));
}

TEST(Holm, LevelRejectionAndAdjustedPAgreeWithTiesInAnyOrder) {
  const std::vector<std::vector<double>> all = {{0.02, 0.02, 0.02}, {0.01, 0.02, 0.02}, {0.02, 0.01, 0.02},
                                                {0.0, 0.0},         {1, 1, 1},          {0.05},
                                                {0.025, 0.025}};
  for (const auto& p : all) {
    const auto steps = holm(p, 0.05);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_EQ(steps[i].rejected, p[i] <= steps[i].level);
      EXPECT_EQ(steps[i].rejected, steps[i].adjusted_p <= 0.05);
      for (std::size_t j = 0; j < p.size(); ++j) {
        if (p[i] == p[j]) {
          EXPECT_EQ(steps[i].level, steps[j].level);
        }
      }
    }
  }
  EXPECT_TRUE(holm({}, 0.05).empty());
}

TEST(Holm, ThreeArmsNeedSixStartsToShipAndEightToClose) {
  EXPECT_EQ(hypotheses(3).ship, 3);
  EXPECT_EQ(hypotheses(3).close, 9);
  EXPECT_EQ(smallest_starts(3, 0.05).ship, 6);
  EXPECT_EQ(smallest_starts(3, 0.05).close, 8);
  EXPECT_EQ(smallest_starts(1, 0.05).ship, 5);
  // Exactly at the power of two the level is reached.
  EXPECT_EQ(smallest_n_for_level(1.0 / 64), 6);
  EXPECT_EQ(smallest_n_for_level(std::nextafter(1.0 / 64, 0.0)), 7);
}

TEST(Sizing, StartsMatchTheTable) {
  const double margin = -std::log(0.98);
  const double loss = -std::log(0.99);
  struct Row {
    double sd;
    int n80, n90, n95, loss80, loss90;
  };
  const Row table[] = {{0.005, 3, 3, 3, 4, 4},    {0.01, 4, 4, 5, 8, 10},     {0.015, 6, 7, 8, 15, 21},
                       {0.02, 8, 10, 13, 26, 35}, {0.03, 16, 21, 26, 56, 77}, {0.04, 26, 35, 44, 98, 135}};
  for (const Row& row : table) {
    EXPECT_EQ(starts_needed(row.sd, margin, 0.05, 0.8), row.n80) << row.sd;
    EXPECT_EQ(starts_needed(row.sd, margin, 0.05, 0.9), row.n90) << row.sd;
    EXPECT_EQ(starts_needed(row.sd, margin, 0.05, 0.95), row.n95) << row.sd;
    EXPECT_EQ(starts_needed(row.sd, margin - loss, 0.05, 0.8), row.loss80) << row.sd;
    EXPECT_EQ(starts_needed(row.sd, margin - loss, 0.05, 0.9), row.loss90) << row.sd;
  }
}

TEST(Sizing, HoldsAtTheEdges) {
  EXPECT_EQ(starts_needed(0.01, 0, 0.05), std::nullopt);
  EXPECT_EQ(starts_needed(0.01, -0.01, 0.05), std::nullopt);
  EXPECT_EQ(starts_needed(0, 0.01, 0.05), 2);
  EXPECT_EQ(starts_needed(1e-9, 1, 0.05 / 9), 2);
  EXPECT_EQ(starts_needed(1, 1e-6, 0.05), std::nullopt);
  EXPECT_EQ(minimum_detectable_effect(0.01, 1, 0.05), std::nullopt);
  EXPECT_EQ(t_power(0.01, 0.02, 1, 0.05), 0);
}

TEST(Sizing, PowerRisesWithoutASeamWhereItBecomesCertain) {
  for (const int n : {2, 3, 6, 30, 1000}) {
    for (const double alpha : {0.05, 0.05 / 9, 1e-4}) {
      double before = 0;
      for (double sd = 1; sd > 1e-9; sd /= 1.5) {
        const double power = t_power(sd, 0.02, n, alpha);
        EXPECT_GE(power, before - 1e-9) << "n " << n << " alpha " << alpha << " sd " << sd;
        EXPECT_LE(power, 1.0);
        before = power;
      }
      EXPECT_EQ(before, 1.0);
    }
  }
}

TEST(Sizing, UpperFactorMatchesTheTable) {
  EXPECT_NEAR(sd_upper_factor(6).value(), 1.46, 0.005);
  EXPECT_NEAR(sd_upper_factor(8).value(), 1.35, 0.005);
  EXPECT_NEAR(sd_upper_factor(10).value(), 1.29, 0.005);
  EXPECT_NEAR(sd_upper_factor(20).value(), 1.18, 0.005);
}

TEST(Sizing, PocockLooksAtThirds) {
  EXPECT_THAT(pocock_looks(24), ElementsAre(8, 16, 24));
  EXPECT_THAT(pocock_looks(10), ElementsAre(4, 7, 10));
  EXPECT_THAT(pocock_looks(11), ElementsAre(4, 8, 11));
  EXPECT_THAT(pocock_looks(1), ElementsAre(1, 1, 1));
}

}  // namespace
}  // namespace weir::stats
