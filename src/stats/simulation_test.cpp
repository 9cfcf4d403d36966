#include <cmath>
#include <map>
#include <random>
#include <vector>

#include <gtest/gtest.h>
#include <boost/math/distributions/normal.hpp>

#include "stats/holm.h"
#include "stats/one_sided.h"
#include "stats/order_check.h"
#include "stats/sizing.h"
#include "stats/student_t.h"
#include "stats/wilcoxon.h"

// Rates over many simulated experiments with fixed seeds. A limit is the nominal rate plus three standard
// errors.

namespace weir::stats {
namespace {

/// Normal noise by inversion: the same numbers with every standard library.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : random_(seed) {}
  double uniform() { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return quantile(boost::math::normal(), uniform()); }
  /// Student t with three degrees of freedom: heavy tails, symmetric.
  double heavy() {
    const double z = normal();
    const double a = normal();
    const double b = normal();
    const double c = normal();
    return z / std::sqrt((a * a + b * b + c * c) / 3);
  }
  std::vector<double> sample(int n, double centre, double sd, bool heavy_tails) {
    std::vector<double> d(static_cast<std::size_t>(n));
    for (double& value : d)
      value = centre + sd * (heavy_tails ? heavy() : normal());
    return d;
  }
  std::uint64_t bits() { return random_(); }

 private:
  std::mt19937_64 random_;
};

double limit(double rate, int trials) {
  return rate + 3 * std::sqrt(rate * (1 - rate) / trials);
}

TEST(Simulation, CombinedRuleKeepsItsLevelAtTheMargin) {
  constexpr int kTrials = 4000;
  const double margin = std::log(0.98);
  for (const bool heavy : {false, true}) {
    for (const int n : {6, 8, 10}) {
      Noise noise(static_cast<std::uint64_t>(100 + n));
      int shipped = 0;
      int closed = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        const auto d = noise.sample(n, margin, 0.015, heavy);
        if (p_above(d, margin) <= 0.05) ++shipped;
        if (p_below(d, margin) <= 0.05) ++closed;
      }
      EXPECT_LE(shipped, limit(0.05, kTrials) * kTrials) << "n " << n << " heavy " << heavy;
      EXPECT_LE(closed, limit(0.05, kTrials) * kTrials) << "n " << n << " heavy " << heavy;
      EXPECT_GE(shipped, 0.02 * kTrials) << "a rule that never fires proves nothing";
    }
  }
}

TEST(Simulation, BoundsCoverTheTruth) {
  constexpr int kTrials = 2000;
  for (const double alpha : {0.05, 0.05 / 3}) {
    for (const int n : {6, 8, 10}) {
      Noise noise(static_cast<std::uint64_t>(200 + n));
      int missed_t = 0;
      int missed_rank = 0;
      int missed = 0;
      for (int trial = 0; trial < kTrials; ++trial) {
        const auto d = noise.sample(n, 0.01, 0.02, false);
        missed_t += *t_lower_bound(d, alpha) > 0.01;
        missed_rank += *hodges_lehmann_upper_bound(d, alpha) < 0.01;
        missed += lower_bound(d, alpha)->value > 0.01;
      }
      EXPECT_LE(missed_t, limit(alpha, kTrials) * kTrials) << n;
      EXPECT_GE(missed_t, (2 * alpha - limit(alpha, kTrials)) * kTrials) << n;
      EXPECT_LE(missed_rank, limit(alpha, kTrials) * kTrials) << n;
      EXPECT_LE(missed, limit(alpha, kTrials) * kTrials) << n;
    }
  }
}

TEST(Simulation, HolmKeepsTheFamilyOfThreeArmsThatShareABaseline) {
  constexpr int kTrials = 3000;
  Noise noise(300);
  int families = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto baseline = noise.sample(8, 0, 0.01, false);
    std::vector<double> p;
    for (int arm = 0; arm < 3; ++arm) {
      auto d = noise.sample(8, 0, 0.01, false);
      for (std::size_t i = 0; i < d.size(); ++i)
        d[i] -= baseline[i];
      p.push_back(p_above(d, 0));
    }
    bool any = false;
    for (const auto& step : holm(p, 0.05))
      any = any || step.rejected;
    families += any;
  }
  EXPECT_LE(families, limit(0.05, kTrials) * kTrials);
  EXPECT_GE(families, 0.01 * kTrials);
}

TEST(Simulation, ThreePocockLooksKeepTheTotal) {
  constexpr int kTrials = 3000;
  Noise noise(400);
  int rejected = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto d = noise.sample(24, 0, 0.01, false);
    bool any = false;
    for (const int look : pocock_looks(24))
      any = any || p_above(std::span(d).first(static_cast<std::size_t>(look)), 0) <= kPocockLevel;
    rejected += any;
  }
  EXPECT_LE(rejected, limit(0.05, kTrials) * kTrials);
}

/// Six starts of four blocks of three arms in random order, with drift; `carry` slows the turn after arm 0.
std::vector<Turn> crossover(Noise& noise, double carry, double first_place) {
  std::vector<Turn> turns;
  for (int start = 0; start < 6; ++start) {
    const double level = noise.normal();
    int previous = -1;
    int turn = 0;
    for (int block = 0; block < 4; ++block) {
      int order[] = {0, 1, 2};
      for (std::size_t left = 3; left > 1; --left)
        std::swap(order[left - 1], order[noise.bits() % left]);
      for (int position = 0; position < 3; ++position, ++turn) {
        const int arm = order[position];
        double value = level + 0.5 * arm + 0.02 * turn + 0.1 * noise.normal();
        if (previous == 0) value += carry;
        if (position == 0) value += first_place;
        turns.push_back({start, arm, position, previous, value});
        previous = arm;
      }
    }
  }
  return turns;
}

TEST(Simulation, OrderChecksKeepTheirLevelUnderArmStartAndDriftEffects) {
  constexpr int kTrials = 400;
  Noise noise(500);
  int carried = 0;
  int placed = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const auto turns = crossover(noise, 0, 0);
    carried += carry_over_p(turns, 1, 199) <= 0.05;
    placed += position_p(turns, 1, 199) <= 0.05;
  }
  EXPECT_LE(carried, limit(0.05, kTrials) * kTrials);
  EXPECT_LE(placed, limit(0.05, kTrials) * kTrials);
  EXPECT_GE(placed, 0.01 * kTrials);
}

TEST(Simulation, OrderChecksFindWhatWasPlanted) {
  Noise noise(600);
  EXPECT_LE(carry_over_p(crossover(noise, 0.25, 0), 1), 0.01);
  EXPECT_LE(position_p(crossover(noise, 0, 0.25), 1), 0.01);
}

TEST(OrderCheck, GivesOneAnswerForOneSeed) {
  Noise noise(700);
  const auto turns = crossover(noise, 0.05, 0);
  EXPECT_EQ(carry_over_p(turns, 7), carry_over_p(turns, 7));
}

TEST(OrderCheck, HasNothingToSayOfNothing) {
  EXPECT_EQ(carry_over_p({}, 1), 1);
  const std::vector<Turn> lone = {{0, 0, 0, -1, 1.0}, {0, 1, 1, 0, 2.0}};
  EXPECT_EQ(carry_over_p(lone, 1), 1);
  EXPECT_EQ(drift(std::vector<double>{1, 2}).p, 1);
  EXPECT_EQ(drift(std::vector<double>{2, 2, 2, 2}).p, 1);
  EXPECT_EQ(drift(std::vector<double>{1, 2, 3, 4}).p, 0);
}

}  // namespace
}  // namespace weir::stats
