#include "stats/sizing.h"

#include <cmath>

#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/non_central_t.hpp>
#include <boost/math/distributions/students_t.hpp>

#include "base/check.h"

namespace weir::stats {
namespace {

using boost::math::students_t;

constexpr int kMostStarts = 1'000'000;

/// Z lies above minus this but for 1e-300.
constexpr double kCertain = 38;

}  // namespace

std::optional<double> minimum_detectable_effect(double sd, int n, double alpha, double power) {
  WEIR_CHECK(alpha > 0 && alpha < 1 && power > 0 && power < 1);
  if (n < 2) return std::nullopt;
  const students_t t(n - 1);
  return (quantile(complement(t, alpha)) + quantile(t, power)) * sd / std::sqrt(static_cast<double>(n));
}

double t_power(double sd, double distance, int n, double alpha) {
  WEIR_CHECK(alpha > 0 && alpha < 1 && sd >= 0);
  if (n < 2) return 0;
  if (sd == 0) return distance > 0 ? 1 : 0;
  const double degrees = n - 1;
  const double critical = quantile(complement(students_t(degrees), alpha));
  const double shift = distance * std::sqrt(static_cast<double>(n)) / sd;
  // T > critical means Z + shift > critical * sqrt(chi2 / degrees); that root is below 7 but for 3e-12.
  if (shift > 7 * critical + kCertain) return 1;
  return cdf(complement(boost::math::non_central_t(degrees, shift), critical));
}

std::optional<int> starts_needed(double sd, double distance, double alpha, double power) {
  WEIR_CHECK(power > 0 && power < 1);
  if (!(distance > 0)) return std::nullopt;
  int enough = 2;
  while (t_power(sd, distance, enough, alpha) < power) {
    if (enough >= kMostStarts) return std::nullopt;
    enough *= 2;
  }
  int too_few = enough / 2;  // 1, or a size that was tried and failed.
  while (enough - too_few > 1) {
    const int middle = too_few + (enough - too_few) / 2;
    (t_power(sd, distance, middle, alpha) < power ? too_few : enough) = middle;
  }
  return enough;
}

std::optional<double> sd_upper_factor(int n, double confidence) {
  WEIR_CHECK(confidence > 0 && confidence < 1);
  if (n < 2) return std::nullopt;
  const double degrees = n - 1;
  return std::sqrt(degrees / quantile(boost::math::chi_squared(degrees), 1 - confidence));
}

std::array<int, 3> pocock_looks(int n) noexcept {
  return {n / 3 + (n % 3 != 0), n - n / 3, n};
}

}  // namespace weir::stats
