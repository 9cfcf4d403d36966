#include "lab/sizing.h"

#include <algorithm>
#include <cmath>

#include "stats/holm.h"
#include "stats/sizing.h"

namespace weir::lab {

namespace {

constexpr int kFewestStarts = 6, kMostStarts = 60, kQuickStarts = 3, kMostBlocks = 50;

double load_seconds(const Probe& probe) {
  return static_cast<double>(probe.load_milliseconds) / 1e3;
}

int blocks_that_fit(double seconds, int starts, const Question& question, const Probe& probe, int most) {
  const double each = seconds / starts - load_seconds(probe);
  const double block = std::max(1e-3, seconds_per_block(question, probe));
  return std::clamp(static_cast<int>(std::floor(each / block)), 0, std::min(most, kMostBlocks));
}

int footprint_starts(const Question& question, const Probe& probe, double seconds) {
  const double round = static_cast<double>(question.arms.size() *
                                           static_cast<std::size_t>(probe.footprint_start_milliseconds)) /
                       1e3;
  if (question.budget == Budget::kQuick) return 2 * round > 0.4 * seconds ? 1 : 2;
  return 3 * round > 0.4 * seconds ? 2 : 3;
}

}  // namespace

double seconds_per_block(const Question& question, const Probe& probe) noexcept {
  return static_cast<double>(question.arms.size() + 1) * static_cast<double>(probe.turn_milliseconds) / 1e3;
}

double expected_footprint_seconds(const Plan& plan) noexcept {
  return static_cast<double>(plan.question.arms.size()) * plan.sizes.footprint_starts_per_arm *
         static_cast<double>(plan.probe.footprint_start_milliseconds) / 1e3;
}

double expected_speed_seconds(const Plan& plan) noexcept {
  return plan.sizes.starts * (load_seconds(plan.probe) +
                              plan.sizes.blocks_per_start * seconds_per_block(plan.question, plan.probe));
}

DesignSizes choose_sizes(const Question& question, const Probe& probe, DesignSizes chosen,
                         double spent_seconds, int most_blocks_per_start) {
  const bool decide = question.budget == Budget::kDecide;
  const double available = question.minutes * 60 - spent_seconds;
  chosen.looks = decide ? 3 : 1;
  chosen.footprint_starts_per_arm = footprint_starts(question, probe, available);
  Plan plan{question, chosen, probe, 0, ""};
  const double left = available - expected_footprint_seconds(plan);
  if (question.budget == Budget::kQuick) {
    chosen.starts = kQuickStarts;
    chosen.blocks_per_start =
        std::max(1, blocks_that_fit(left, kQuickStarts, question, probe, most_blocks_per_start));
    return chosen;
  }
  const int step = decide ? 3 : 1;
  const auto needed = stats::smallest_starts(treatments(question), look_level(plan));
  const int fewest = (std::max(kFewestStarts, needed.ship) + step - 1) / step * step;
  chosen.starts = fewest;
  chosen.blocks_per_start =
      std::max(1, blocks_that_fit(left, fewest, question, probe, most_blocks_per_start));
  double best = 1e300;
  for (int starts = fewest; starts <= kMostStarts; starts += step) {
    const int blocks = blocks_that_fit(left, starts, question, probe, most_blocks_per_start);
    if (blocks < 1) break;
    // Turns of one process differ from block to block far more than processes do, so the spread falls with
    // blocks.
    const double effect =
        *stats::minimum_detectable_effect(1 / std::sqrt(blocks), starts, smallest_ship_level(plan));
    if (effect >= best * 0.999) continue;
    best = effect;
    chosen.starts = starts;
    chosen.blocks_per_start = blocks;
  }
  return chosen;
}

}  // namespace weir::lab
