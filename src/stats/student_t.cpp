#include "stats/student_t.h"

#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "base/check.h"
#include "stats/summary.h"

namespace weir::stats {
namespace {

using boost::math::students_t;

/// P(T >= t) for a mean that lies `excess` above theta0.
double upper_tail(const Summary& summary, double excess) {
  if (summary.n < 2) return 1;
  if (summary.sd == 0) return excess > 0 ? 0 : 1;
  const auto n = static_cast<double>(summary.n);
  return cdf(complement(students_t(n - 1), excess * std::sqrt(n) / summary.sd));
}

std::optional<double> half_width(const Summary& summary, double alpha) {
  WEIR_CHECK(alpha > 0 && alpha < 1);
  if (summary.n < 2) return std::nullopt;
  const auto n = static_cast<double>(summary.n);
  return quantile(complement(students_t(n - 1), alpha)) * summary.sd / std::sqrt(n);
}

}  // namespace

double t_p_above(std::span<const double> d, double theta0) {
  const Summary summary = summarize(d);
  return upper_tail(summary, summary.mean - theta0);
}

double t_p_below(std::span<const double> d, double theta0) {
  const Summary summary = summarize(d);
  return upper_tail(summary, theta0 - summary.mean);
}

std::optional<double> t_lower_bound(std::span<const double> d, double alpha) {
  const Summary summary = summarize(d);
  const auto half = half_width(summary, alpha);
  if (!half) return std::nullopt;
  return summary.mean - *half;
}

std::optional<double> t_upper_bound(std::span<const double> d, double alpha) {
  const Summary summary = summarize(d);
  const auto half = half_width(summary, alpha);
  if (!half) return std::nullopt;
  return summary.mean + *half;
}

}  // namespace weir::stats
