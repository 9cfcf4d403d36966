#include "stats/one_sided.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/student_t.h"
#include "stats/wilcoxon.h"

namespace weir::stats {
namespace {

constexpr std::size_t kMostFlipped = 20;

/// Share of the 2^n sign patterns whose sum is at least the observed one; `sign` -1 asks about the other
/// side.
std::optional<double> sign_flip_p(std::span<const double> d, double theta0, double sign) {
  if (d.empty() || d.size() > kMostFlipped) return std::nullopt;
  std::vector<double> sums = {0.0};
  double observed = 0;
  double magnitude = 0;
  for (const double value : d) {
    const double excess = sign * (value - theta0);
    observed += excess;
    magnitude += std::abs(excess);
    const std::size_t half = sums.size();
    sums.reserve(2 * half);
    for (std::size_t i = 0; i < half; ++i) {
      sums.push_back(sums[i] + excess);
      sums[i] -= excess;
    }
  }
  // Patterns equal but for rounding count as at least as extreme: the larger p.
  const double threshold = observed - 1e-12 * magnitude;
  const auto extreme = std::count_if(sums.begin(), sums.end(), [&](double sum) { return sum >= threshold; });
  return static_cast<double>(extreme) / static_cast<double>(sums.size());
}

}  // namespace

const char* name(Method method) noexcept {
  return method == Method::kStudentT ? "t" : "HL";
}

double p_above(std::span<const double> d, double theta0) {
  return std::max(t_p_above(d, theta0), wilcoxon_p_above(d, theta0));
}

double p_below(std::span<const double> d, double theta0) {
  return std::max(t_p_below(d, theta0), wilcoxon_p_below(d, theta0));
}

std::optional<OneSidedBound> lower_bound(std::span<const double> d, double alpha) {
  const auto t = t_lower_bound(d, alpha);
  const auto rank = hodges_lehmann_lower_bound(d, alpha);
  if (!t || !rank) return std::nullopt;
  if (*rank < *t) return OneSidedBound{*rank, alpha, Method::kHodgesLehmann};
  return OneSidedBound{*t, alpha, Method::kStudentT};
}

std::optional<OneSidedBound> upper_bound(std::span<const double> d, double alpha) {
  const auto t = t_upper_bound(d, alpha);
  const auto rank = hodges_lehmann_upper_bound(d, alpha);
  if (!t || !rank) return std::nullopt;
  if (*rank > *t) return OneSidedBound{*rank, alpha, Method::kHodgesLehmann};
  return OneSidedBound{*t, alpha, Method::kStudentT};
}

std::optional<double> sign_flip_p_above(std::span<const double> d, double theta0) {
  return sign_flip_p(d, theta0, 1);
}

std::optional<double> sign_flip_p_below(std::span<const double> d, double theta0) {
  return sign_flip_p(d, theta0, -1);
}

}  // namespace weir::stats
