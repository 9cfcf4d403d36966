#include "stats/order_check.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "base/check.h"

namespace weir::stats {
namespace {

/// What is left of the values, the places of each stratum (one arm in one start), the groups numbered from 0.
struct Strata {
  std::vector<double> residuals;
  std::vector<std::vector<std::size_t>> places;
  std::vector<std::size_t> group;
  std::vector<double> group_size;
};

void subtract_mean(std::vector<double>& values, const std::vector<std::size_t>& places) {
  double sum = 0;
  for (const std::size_t place : places)
    sum += values[place];
  for (const std::size_t place : places)
    values[place] -= sum / static_cast<double>(places.size());
}

/// Takes arm means and one straight line in time out of the values of a start (both at once: least squares).
void detrend(std::vector<double>& values, std::span<const std::vector<std::size_t>> arms) {
  std::vector<double> time(values.size());
  std::iota(time.begin(), time.end(), 0.0);
  double xx = 0;
  double xy = 0;
  for (const auto& places : arms) {
    subtract_mean(values, places);
    subtract_mean(time, places);
    for (const std::size_t place : places) {
      xx += time[place] * time[place];
      xy += time[place] * values[place];
    }
  }
  if (xx == 0) return;
  for (const auto& places : arms) {
    for (const std::size_t place : places)
      values[place] -= time[place] * xy / xx;
  }
}

template <class Group>
Strata stratify(std::span<const Turn> turns, Group group_of) {
  Strata strata;
  std::map<int, std::map<int, std::vector<std::size_t>>> starts;
  std::map<int, std::size_t> numbers;
  for (const Turn& turn : turns) {
    starts[turn.start][turn.arm].push_back(strata.residuals.size());
    const auto number = numbers.try_emplace(group_of(turn), numbers.size()).first->second;
    strata.group.push_back(number);
    strata.group_size.resize(numbers.size(), 0.0);
    strata.group_size[number] += 1;
    strata.residuals.push_back(turn.value);
  }
  for (auto& [start, arms] : starts) {
    const std::size_t first = strata.places.size();
    for (auto& [arm, places] : arms)
      strata.places.push_back(std::move(places));
    detrend(strata.residuals, std::span(strata.places).subspan(first));
  }
  return strata;
}

double between_groups(const Strata& strata) {
  std::vector<double> sums(strata.group_size.size(), 0.0);
  for (std::size_t i = 0; i < strata.residuals.size(); ++i)
    sums[strata.group[i]] += strata.residuals[i];
  double between = 0;
  for (std::size_t g = 0; g < sums.size(); ++g)
    between += sums[g] * sums[g] / strata.group_size[g];
  return between;
}

double permutation_p(Strata strata, std::uint64_t seed, int rounds) {
  WEIR_CHECK_LT(0, rounds);
  const double observed = between_groups(strata);
  std::mt19937_64 random(seed);
  int extreme = 0;
  for (int round = 0; round < rounds; ++round) {
    for (const auto& places : strata.places) {
      // Fisher-Yates by hand: the standard shuffle differs between libraries. The modulo's bias is below
      // 2^-50.
      for (std::size_t left = places.size(); left > 1; --left)
        std::swap(strata.residuals[places[left - 1]], strata.residuals[places[random() % left]]);
    }
    if (between_groups(strata) >= observed * (1 - 1e-12)) ++extreme;
  }
  return (1.0 + extreme) / (1.0 + rounds);
}

}  // namespace

double carry_over_p(std::span<const Turn> turns, std::uint64_t seed, int rounds) {
  std::vector<Turn> followers;
  std::copy_if(turns.begin(), turns.end(), std::back_inserter(followers),
               [](const Turn& turn) { return turn.previous_arm >= 0; });
  return permutation_p(stratify(followers, [](const Turn& turn) { return turn.previous_arm; }), seed, rounds);
}

double position_p(std::span<const Turn> turns, std::uint64_t seed, int rounds) {
  return permutation_p(stratify(turns, [](const Turn& turn) { return turn.position; }), seed, rounds);
}

Drift drift(std::span<const double> series) {
  Drift line;
  if (series.size() < 3) return line;
  const auto n = static_cast<double>(series.size());
  double mean = 0;
  for (const double value : series)
    mean += value / n;
  double xx = 0;
  double xy = 0;
  double yy = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double x = static_cast<double>(i) - (n - 1) / 2;
    xx += x * x;
    xy += x * (series[i] - mean);
    yy += (series[i] - mean) * (series[i] - mean);
  }
  line.slope = xy / xx;
  if (yy == 0) return line;
  double squares = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    const double rest = series[i] - mean - line.slope * (static_cast<double>(i) - (n - 1) / 2);
    squares += rest * rest;
  }
  const double error = std::sqrt(squares / (n - 2) / xx);
  if (error == 0) return {line.slope, 0};
  line.p = 2 * cdf(complement(boost::math::students_t(n - 2), std::abs(line.slope) / error));
  return line;
}

}  // namespace weir::stats
