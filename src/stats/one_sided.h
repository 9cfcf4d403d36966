#pragma once

#include <optional>
#include <span>

namespace weir::stats {

/// Which of the two methods gave the worse bound.
enum class Method { kStudentT, kHodgesLehmann };

/// "t" or "HL", for tables.
[[nodiscard]] const char* name(Method method) noexcept;

/// A one-sided bound at level 1 - alpha.
struct OneSidedBound {
  double value = 0;
  double alpha = 0;
  Method method = Method::kStudentT;
};

/// The rule for speed: paired t and exact Wilcoxon must both clear. Every p is the larger and every bound the
/// worse of the two, so that p_above(d, theta0) <= alpha exactly when lower_bound(d, alpha) > theta0 (up to
/// rounding). For footprint use the t functions of student_t.h alone.

/// Small when the centre of `d` lies above `theta0`. 1 when n < 2.
[[nodiscard]] double p_above(std::span<const double> d, double theta0);

/// Small when the centre of `d` lies below `theta0`. 1 when n < 2.
[[nodiscard]] double p_below(std::span<const double> d, double theta0);

/// The lower of the two lower bounds; nullopt when n is too small for the level.
[[nodiscard]] std::optional<OneSidedBound> lower_bound(std::span<const double> d, double alpha);

/// The higher of the two upper bounds; nullopt when n is too small for the level.
[[nodiscard]] std::optional<OneSidedBound> upper_bound(std::span<const double> d, double alpha);

/// Sign-flip permutation p for the mean, all 2^n signs: for display beside t. nullopt when n is 0 or over 20.
[[nodiscard]] std::optional<double> sign_flip_p_above(std::span<const double> d, double theta0);
[[nodiscard]] std::optional<double> sign_flip_p_below(std::span<const double> d, double theta0);

}  // namespace weir::stats
