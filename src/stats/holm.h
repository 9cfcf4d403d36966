#pragma once

#include <span>
#include <vector>

namespace weir::stats {

/// What Holm's step-down procedure says of one hypothesis.
struct HolmStep {
  double adjusted_p = 1;  ///< Rejected exactly when this is <= alpha.
  double level = 0;       ///< The level its own p is held against; bounds of the arm are printed at it.
  bool rejected = false;
};

/// Holm over `p`, in the order given; family-wise error at most `alpha` under any dependence.
///
/// `level`: the i-th smallest of m is tested at alpha / (m - i + 1); what stands behind the first failure is
/// held against the level of that failure, and equal p share the strictest of their levels. So a hypothesis
/// is rejected exactly when p <= level, and a bound at `level` clears its margin exactly when the hypothesis
/// is rejected. The bounds of several arms do not hold together at 1 - alpha; for that, print them at alpha /
/// m.
[[nodiscard]] std::vector<HolmStep> holm(std::span<const double> p, double alpha);

/// How many hypotheses stand in each of the two families of a plan.
/// SHIP has one an arm: its p is the largest of its parts (intersection-union), so parts cost nothing.
/// CLOSE has one for each way to fail, arms x (speed metrics + saving), because any one of them closes:
/// prefill slower, decode slower, too little saved. Three arms: 3 and 9, hence six starts (2^-6 <= 0.05/3)
/// and eight (2^-8 <= 0.05/9).
struct Hypotheses {
  int ship = 0;
  int close = 0;
};
[[nodiscard]] Hypotheses hypotheses(int arms, int speed_metrics = 2) noexcept;

/// The starts that a plan needs before SHIP (and CLOSE for cost) can be reached at all: smallest_n_for_level
/// at the smallest level of each family.
struct SmallestStarts {
  int ship = 0;
  int close = 0;
};
[[nodiscard]] SmallestStarts smallest_starts(int arms, double alpha, int speed_metrics = 2) noexcept;

}  // namespace weir::stats
