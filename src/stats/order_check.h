#pragma once

#include <cstdint>
#include <span>

namespace weir::stats {

/// One turn of a crossover, for checks of what its place in the order does to it.
struct Turn {
  int start = 0;         ///< Which process.
  int arm = 0;           ///< Which setting it ran under.
  int position = 0;      ///< Its place within the block.
  int previous_arm = 0;  ///< The arm of the turn before it in this process; -1 for the first.
  double value = 0;      ///< The log of the metric.
};

/// Carry-over: does the arm that ran before explain the value? `turns` of a start stand in time order.
/// Removes the mean of each arm in each start and a straight line in time from each start, then compares the
/// sums of squares between groups under permutations of what is left among the turns of one arm in one start:
/// differences between arms and starts and a steady drift raise no alarm. Turns without a predecessor
/// (previous_arm < 0) are left out. Small p: the previous arm shows. 1 when nothing can be permuted. `rounds`
/// random permutations from `seed`; p = (1 + as extreme) / (1 + rounds). Same answer on every machine.
[[nodiscard]] double carry_over_p(std::span<const Turn> turns, std::uint64_t seed, int rounds = 1999);

/// The same question about the place within the block.
[[nodiscard]] double position_p(std::span<const Turn> turns, std::uint64_t seed, int rounds = 1999);

/// A straight line through values in time order.
struct Drift {
  double slope = 0;  ///< Change of the value for each step.
  double p = 1;      ///< Two-sided t of slope = 0; 1 when n < 3 or without spread.
};
[[nodiscard]] Drift drift(std::span<const double> series);

}  // namespace weir::stats
