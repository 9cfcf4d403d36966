#include "stats/wilcoxon.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace weir::stats {
namespace {

/// P(W+ <= w), summed from the small end, where the terms are smallest.
double probability_at_most(const std::vector<double>& null, std::ptrdiff_t w) {
  double sum = 0;
  for (std::ptrdiff_t i = 0; i <= w && i < static_cast<std::ptrdiff_t>(null.size()); ++i)
    sum += null[static_cast<std::size_t>(i)];
  return std::min(sum, 1.0);
}

/// p of "no more than this many Walsh averages stand against the claim".
double p_of_counter_evidence(std::size_t n, std::ptrdiff_t against) {
  if (n == 0) return 1;
  return probability_at_most(signed_rank_null(static_cast<int>(n)), against);
}

}  // namespace

std::vector<double> signed_rank_null(int n) {
  WEIR_CHECK_LE(0, n);
  std::vector<double> null(static_cast<std::size_t>(n) * (static_cast<std::size_t>(n) + 1) / 2 + 1, 0.0);
  null[0] = 1;
  std::size_t largest = 0;
  for (std::size_t rank = 1; rank <= static_cast<std::size_t>(n); ++rank) {
    // Each rank is positive or negative with probability one half.
    for (std::size_t w = largest + 1; w-- > 0;) {
      null[w] /= 2;
      null[w + rank] += null[w];
    }
    largest += rank;
  }
  return null;
}

std::optional<int> hodges_lehmann_rank(int n, double alpha) {
  WEIR_CHECK(alpha > 0 && alpha < 1);
  if (n < 1) return std::nullopt;
  const std::vector<double> null = signed_rank_null(n);
  double sum = 0;
  int k = 0;
  while (static_cast<std::size_t>(k) < null.size() && sum + null[static_cast<std::size_t>(k)] <= alpha)
    sum += null[static_cast<std::size_t>(k++)];
  if (k == 0) return std::nullopt;
  return k;
}

std::vector<double> walsh_averages(std::span<const double> d) {
  std::vector<double> averages;
  averages.reserve(d.size() * (d.size() + 1) / 2);
  for (std::size_t i = 0; i < d.size(); ++i) {
    for (std::size_t j = i; j < d.size(); ++j)
      averages.push_back(d[i] / 2 + d[j] / 2);
  }
  std::sort(averages.begin(), averages.end());
  return averages;
}

double hodges_lehmann(std::span<const double> d) {
  const std::vector<double> averages = walsh_averages(d);
  if (averages.empty()) return 0;
  const std::size_t half = averages.size() / 2;
  return averages.size() % 2 == 1 ? averages[half] : averages[half - 1] / 2 + averages[half] / 2;
}

double wilcoxon_p_above(std::span<const double> d, double theta0) {
  const std::vector<double> averages = walsh_averages(d);
  return p_of_counter_evidence(d.size(),
                               std::upper_bound(averages.begin(), averages.end(), theta0) - averages.begin());
}

double wilcoxon_p_below(std::span<const double> d, double theta0) {
  const std::vector<double> averages = walsh_averages(d);
  return p_of_counter_evidence(d.size(),
                               averages.end() - std::lower_bound(averages.begin(), averages.end(), theta0));
}

std::optional<double> hodges_lehmann_lower_bound(std::span<const double> d, double alpha) {
  const auto rank = hodges_lehmann_rank(static_cast<int>(d.size()), alpha);
  if (!rank) return std::nullopt;
  return walsh_averages(d)[static_cast<std::size_t>(*rank) - 1];
}

std::optional<double> hodges_lehmann_upper_bound(std::span<const double> d, double alpha) {
  const auto rank = hodges_lehmann_rank(static_cast<int>(d.size()), alpha);
  if (!rank) return std::nullopt;
  const std::vector<double> averages = walsh_averages(d);
  return averages[averages.size() - static_cast<std::size_t>(*rank)];
}

int smallest_n_for_level(double alpha) noexcept {
  int n = 1;
  while (n < 1074 && std::ldexp(1.0, -n) > alpha)
    ++n;
  return n;
}

}  // namespace weir::stats
