#pragma once

#include <optional>
#include <span>

namespace weir::stats {

/// One-sample Student t for the mean of `d` (paired differences come in already subtracted), one-sided.
/// A sample without spread has p 0 on the side it lies on and 1 on the other (1 on both when it equals
/// `theta0`), and its bounds are its mean.

/// Small when the mean lies above `theta0`: P(T >= t) under mean = theta0. 1 when n < 2.
[[nodiscard]] double t_p_above(std::span<const double> d, double theta0);

/// Small when the mean lies below `theta0`. 1 when n < 2.
[[nodiscard]] double t_p_below(std::span<const double> d, double theta0);

/// The mean is at least this, at level 1 - alpha: mean - t(1 - alpha, n - 1) * s / sqrt(n). nullopt when n
/// < 2. 0 < alpha < 1.
[[nodiscard]] std::optional<double> t_lower_bound(std::span<const double> d, double alpha);

/// The mean is at most this, at level 1 - alpha. nullopt when n < 2.
[[nodiscard]] std::optional<double> t_upper_bound(std::span<const double> d, double alpha);

}  // namespace weir::stats
