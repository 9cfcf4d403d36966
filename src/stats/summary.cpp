#include "stats/summary.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace weir::stats {

Summary summarize(std::span<const double> values) {
  Summary summary;
  summary.n = values.size();
  if (values.empty()) return summary;
  double sum = 0;
  for (const double value : values)
    sum += value;
  const auto n = static_cast<double>(values.size());
  summary.mean = sum / n;
  summary.median = median(values);
  if (values.size() < 2) return summary;
  // The second sum would be 0 without rounding; it corrects the first for the mean's own error.
  double squares = 0;
  double rest = 0;
  for (const double value : values) {
    squares += (value - summary.mean) * (value - summary.mean);
    rest += value - summary.mean;
  }
  summary.sd = std::sqrt(std::max(0.0, (squares - rest * rest / n) / (n - 1)));
  return summary;
}

double median(std::span<const double> values) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

}  // namespace weir::stats
