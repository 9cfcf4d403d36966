#include "stats/known_answers.h"

#include <gtest/gtest.h>

#include "stats/one_sided.h"
#include "stats/order_check.h"
#include "stats/sizing.h"
#include "stats/student_t.h"
#include "stats/summary.h"
#include "stats/wilcoxon.h"

namespace weir::stats {
namespace {

constexpr double kClose = 1e-10;

TEST(KnownAnswers, SummaryMatches) {
  for (const auto& sample : known::samples()) {
    const Summary summary = summarize(sample.d);
    EXPECT_EQ(summary.n, sample.d.size());
    EXPECT_NEAR(summary.mean, sample.mean, kClose);
    EXPECT_NEAR(summary.sd, sample.sd, kClose);
    EXPECT_NEAR(summary.median, sample.median, kClose);
  }
}

TEST(KnownAnswers, StudentTMatches) {
  for (const auto& sample : known::samples()) {
    EXPECT_NEAR(t_p_above(sample.d, sample.theta0), sample.t_above, kClose);
    EXPECT_NEAR(t_p_below(sample.d, sample.theta0), sample.t_below, kClose);
    EXPECT_NEAR(t_lower_bound(sample.d, sample.alpha).value(), sample.t_lower, kClose);
    EXPECT_NEAR(t_upper_bound(sample.d, sample.alpha).value(), sample.t_upper, kClose);
  }
}

TEST(KnownAnswers, SignedRankMatches) {
  for (const auto& sample : known::samples()) {
    EXPECT_NEAR(wilcoxon_p_above(sample.d, sample.theta0), sample.rank_above, kClose);
    EXPECT_NEAR(wilcoxon_p_below(sample.d, sample.theta0), sample.rank_below, kClose);
    EXPECT_NEAR(hodges_lehmann(sample.d), sample.hodges_lehmann, kClose);
    EXPECT_NEAR(hodges_lehmann_lower_bound(sample.d, sample.alpha).value(), sample.rank_lower, kClose);
    EXPECT_NEAR(hodges_lehmann_upper_bound(sample.d, sample.alpha).value(), sample.rank_upper, kClose);
  }
}

TEST(KnownAnswers, SignFlipMatches) {
  for (const auto& sample : known::samples()) {
    EXPECT_NEAR(sign_flip_p_above(sample.d, sample.theta0).value(), sample.flip_above, kClose);
    EXPECT_NEAR(sign_flip_p_below(sample.d, sample.theta0).value(), sample.flip_below, kClose);
  }
}

TEST(KnownAnswers, PowerMatchesTheNonCentralT) {
  for (const auto& row : known::kPowers)
    EXPECT_NEAR(t_power(row.sd, row.distance, row.n, row.alpha), row.power, 1e-8)
        << "sd " << row.sd << " n " << row.n;
}

TEST(KnownAnswers, EffectAndSdFactorMatch) {
  for (const auto& row : known::kEffects) {
    EXPECT_NEAR(minimum_detectable_effect(row.sd, row.n, row.alpha).value(), row.effect, kClose);
    EXPECT_NEAR(sd_upper_factor(row.n).value(), row.sd_factor, kClose);
  }
}

TEST(KnownAnswers, DriftMatchesLinearRegression) {
  for (const auto& line : known::lines()) {
    const Drift found = drift(line.series);
    EXPECT_NEAR(found.slope, line.slope, kClose);
    EXPECT_NEAR(found.p, line.p, kClose);
  }
}

}  // namespace
}  // namespace weir::stats
