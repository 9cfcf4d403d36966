#pragma once

#include <array>
#include <optional>

namespace weir::stats {

/// Smallest effect that n differences with this sd find with `power`: (t(1 - alpha) + t(power)) * sd /
/// sqrt(n), both with n - 1 degrees of freedom, in the unit of sd. nullopt when n < 2.
[[nodiscard]] std::optional<double> minimum_detectable_effect(double sd, int n, double alpha,
                                                              double power = 0.8);

/// Power of the one-sided t test at level alpha when the true mean stands `distance` off the margin
/// (non-central t). 0 when n < 2; 1 when sd is 0 and distance positive.
[[nodiscard]] double t_power(double sd, double distance, int n, double alpha);

/// The fewest differences that reach `power` at `distance` from the margin, by the exact non-central t; never
/// below
/// 2. nullopt when distance <= 0 or over 1,000,000 would be needed. The exact rank test has its own floor:
/// take the larger of this and smallest_n_for_level(alpha).
[[nodiscard]] std::optional<int> starts_needed(double sd, double distance, double alpha, double power = 0.8);

/// What multiplies an sd estimated from n differences so that the true sd lies below with `confidence`:
/// sqrt((n - 1) / chi2(1 - confidence, n - 1)). nullopt when n < 2.
[[nodiscard]] std::optional<double> sd_upper_factor(int n, double confidence = 0.8);

/// Pocock's level at each of three equally spaced looks that keeps the total at 0.05 one-sided.
inline constexpr double kPocockLevel = 0.0232;

/// Sample sizes at the three looks: n/3, 2n/3 (both rounded up) and n. n >= 1.
[[nodiscard]] std::array<int, 3> pocock_looks(int n) noexcept;

}  // namespace weir::stats
