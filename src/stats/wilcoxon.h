#pragma once

#include <optional>
#include <span>
#include <vector>

namespace weir::stats {

/// Wilcoxon's signed-rank test and the Hodges-Lehmann estimate, exact for symmetric differences.
///
/// Zeros and ties: W+ is the number of Walsh averages (d[i] + d[j]) / 2, i <= j, strictly above theta0.
/// Without ties that is the sum of the positive ranks; with them every zero counts against the claim and
/// every tie is broken against it. A tie broken by a fair coin has the exact null distribution and never a
/// smaller p, so the test keeps its level for any data, needs no case of its own, and agrees with the bounds:
/// p_above(d, theta0) <= alpha exactly when lower_bound(d, alpha) > theta0.

/// The null distribution of W+ for n untied differences: probability of W+ = 0 … n(n+1)/2, by the recursion
/// over ranks in halves (relative error below n * 2^-52; all of it exact to n = 52). Costs n^3 / 6 additions.
[[nodiscard]] std::vector<double> signed_rank_null(int n);

/// Rank of the Hodges-Lehmann bound: the largest k with P(W+ <= k - 1) <= alpha; the bound is the k-th
/// smallest (largest) Walsh average. nullopt when no k reaches the level (2^-n > alpha).
[[nodiscard]] std::optional<int> hodges_lehmann_rank(int n, double alpha);

/// All (d[i] + d[j]) / 2 with i <= j, ascending.
[[nodiscard]] std::vector<double> walsh_averages(std::span<const double> d);

/// Median of the Walsh averages; 0 for an empty sample.
[[nodiscard]] double hodges_lehmann(std::span<const double> d);

/// Small when the centre lies above `theta0`: P(W+ >= observed). 1 for an empty sample.
[[nodiscard]] double wilcoxon_p_above(std::span<const double> d, double theta0);

/// Small when the centre lies below `theta0`.
[[nodiscard]] double wilcoxon_p_below(std::span<const double> d, double theta0);

/// The centre is at least this, at level 1 - alpha. nullopt when n is too small for the level.
[[nodiscard]] std::optional<double> hodges_lehmann_lower_bound(std::span<const double> d, double alpha);

/// The centre is at most this, at level 1 - alpha. nullopt when n is too small for the level.
[[nodiscard]] std::optional<double> hodges_lehmann_upper_bound(std::span<const double> d, double alpha);

/// The smallest n whose smallest p, 2^-n, is at most `alpha`: a plan with fewer starts cannot reach its
/// level. 0.05 -> 5, 0.05/3 -> 6, 0.05/9 -> 8. See `Hypotheses` in holm.h.
[[nodiscard]] int smallest_n_for_level(double alpha) noexcept;

}  // namespace weir::stats
