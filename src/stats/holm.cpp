#include "stats/holm.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "stats/wilcoxon.h"

namespace weir::stats {

std::vector<HolmStep> holm(std::span<const double> p, double alpha) {
  WEIR_CHECK(alpha > 0 && alpha < 1);
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });

  std::vector<HolmStep> steps(p.size());
  double adjusted = 0;
  double level = 0;
  bool going = true;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto left = static_cast<double>(order.size() - i);
    const double own = p[order[i]];
    adjusted = std::max(adjusted, std::min(1.0, own * left));
    const bool tied = i > 0 && own == p[order[i - 1]];
    if (going && !tied) level = alpha / left;
    going = going && own <= level;
    steps[order[i]] = {adjusted, level, going};
  }
  return steps;
}

Hypotheses hypotheses(int arms, int speed_metrics) noexcept {
  return {arms, arms * (speed_metrics + 1)};
}

SmallestStarts smallest_starts(int arms, double alpha, int speed_metrics) noexcept {
  const Hypotheses count = hypotheses(arms, speed_metrics);
  return {smallest_n_for_level(alpha / count.ship), smallest_n_for_level(alpha / count.close)};
}

}  // namespace weir::stats
