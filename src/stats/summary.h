#pragma once

#include <cstddef>
#include <span>

namespace weir::stats {

/// A sample in four numbers. `sd` is the sample standard deviation (n - 1), in two passes; 0 when n < 2.
/// All are 0 for an empty sample.
struct Summary {
  std::size_t n = 0;
  double mean = 0;
  double sd = 0;
  double median = 0;
};

/// Values must be finite. Pure; safe from any thread, as is everything in this library.
[[nodiscard]] Summary summarize(std::span<const double> values);

/// The middle value, or the mean of the two middle ones; 0 for an empty sample.
[[nodiscard]] double median(std::span<const double> values);

}  // namespace weir::stats
