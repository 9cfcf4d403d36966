#include "lab/sizing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/holm.h"
#include "stats/sizing.h"

namespace weir::lab {

namespace {

constexpr int kFewestStarts = 6, kQuickStarts = 3, kMostBlocks = 50;
/// Beyond these the exact rank test costs more than a start tells.
constexpr int kMostStarts = 60, kMostBlocksOfStarts = 400;
constexpr double kFootprintShare = 0.4, kSecondRoundShare = 0.25, kScreenFootprintShare = 0.5;

double in_seconds(std::int64_t milliseconds) {
  return static_cast<double>(milliseconds) / 1e3;
}

int arms_of(const Question& question) {
  return static_cast<int>(question.arms.size());
}

bool is_between(const Question& question) {
  return design_of(question) == Design::kBetween;
}

/// Blocks (between: turns of a process) that each of `starts` starts has time for.
int blocks_that_fit(double seconds, int starts, const Question& question, const Probe& probe, int most) {
  const double fixed = expected_start_seconds(question, probe, 0);
  const double block = std::max(1e-3, expected_start_seconds(question, probe, 1) - fixed);
  const double each = seconds / starts - fixed;
  return static_cast<int>(
      std::clamp(std::floor(each / block), 0.0, static_cast<double>(std::min(most, kMostBlocks))));
}

int footprint_starts(const Question& question, const Probe& probe, double seconds) {
  const double round = arms_of(question) * in_seconds(probe.footprint_start_milliseconds);
  if (question.budget == Budget::kQuick) return 2 * round > kSecondRoundShare * seconds ? 1 : 2;
  return 3 * round > kFootprintShare * seconds ? 2 : 3;
}

int rounded_up(int count, int step) {
  return (count + step - 1) / step * step;
}

}  // namespace

double seconds_per_block(const Question& question, const Probe& probe) noexcept {
  return (arms_of(question) + 1) * in_seconds(probe.turn_milliseconds);
}

double expected_start_seconds(const Question& question, const Probe& probe, int blocks) noexcept {
  const int processes = is_between(question) ? arms_of(question) + 1 : 1;
  return processes * in_seconds(probe.load_milliseconds) + blocks * seconds_per_block(question, probe);
}

double expected_footprint_seconds(const Plan& plan) noexcept {
  return arms_of(plan.question) * plan.sizes.footprint_starts_per_arm *
         in_seconds(plan.probe.footprint_start_milliseconds);
}

double expected_speed_seconds(const Plan& plan) noexcept {
  return plan.sizes.starts * expected_start_seconds(plan.question, plan.probe, plan.sizes.blocks_per_start);
}

double expected_effect(int starts, int blocks_per_start, double level, double spread) {
  const double all = std::sqrt(1.0 / blocks_per_start + spread * spread);
  return stats::minimum_detectable_effect(all, starts, level).value_or(std::numeric_limits<double>::max());
}

double footprint_seconds_allowed(const Question& question) noexcept {
  if (question.budget != Budget::kQuick) return std::numeric_limits<double>::infinity();
  return kScreenFootprintShare * question.minutes * 60 / (arms_of(question) + 1);
}

DesignSizes choose_sizes(const Question& question, const Probe& probe, DesignSizes chosen,
                         int most_blocks_per_start) {
  const double available = kPlannedShare * question.minutes * 60 - in_seconds(probe.spent_milliseconds);
  chosen.looks = question.budget == Budget::kDecide ? 3 : 1;
  chosen.footprint_starts_per_arm = footprint_starts(question, probe, available);
  const Plan plan{question, chosen, probe, 0, ""};
  const double left = available - expected_footprint_seconds(plan);
  const auto fit = [&](int starts) {
    return blocks_that_fit(left, starts, question, probe, most_blocks_per_start);
  };
  if (question.budget == Budget::kQuick) {
    chosen.starts = kQuickStarts;
    chosen.blocks_per_start = std::max(1, fit(chosen.starts));
    return chosen;
  }
  const int step = chosen.looks;
  const auto needed = stats::smallest_starts(treatments(question), look_level(plan));
  const int ship = rounded_up(std::max(kFewestStarts, needed.ship), step);
  const int close = rounded_up(std::max(kFewestStarts, needed.close), step);
  chosen.starts = fit(close) >= 1 ? close : ship;
  chosen.blocks_per_start = std::max(1, fit(chosen.starts));
  const double level = smallest_ship_level(plan);
  const double spread = is_between(question) ? kProcessSpread : kStartSpread;
  const int most = is_between(question) ? kMostBlocksOfStarts : kMostStarts;
  double best = expected_effect(chosen.starts, chosen.blocks_per_start, level, spread);
  for (int starts = chosen.starts + step; starts <= most && fit(starts) >= 1; starts += step) {
    const double effect = expected_effect(starts, fit(starts), level, spread);
    if (effect >= best * 0.999) continue;
    best = effect;
    chosen.starts = starts;
    chosen.blocks_per_start = fit(starts);
  }
  return chosen;
}

double measured_seconds(const Records& records) {
  double out = 0;
  for (const auto& record : records.footprints)
    out += record.seconds;
  for (const auto& block : records.blocks)
    out += block.seconds;
  return out;
}

double screen_seconds_left(const Plan& plan, const Records& records) {
  if (plan.question.budget != Budget::kQuick) return std::numeric_limits<double>::infinity();
  const double spent = in_seconds(plan.probe.spent_milliseconds) + measured_seconds(records);
  return std::max(0.0, kScreenOverrun * plan.question.minutes * 60 - spent);
}

bool out_of_time(const Plan& plan, const Records& records) {
  if (plan.question.budget != Budget::kQuick) return false;
  const auto footprint_starts = static_cast<std::size_t>(arms_of(plan.question)) *
                                static_cast<std::size_t>(plan.sizes.footprint_starts_per_arm);
  double next = 0;
  if (records.footprints.size() < footprint_starts) {
    next = in_seconds(plan.probe.footprint_start_milliseconds);
    for (const auto& record : records.footprints)
      next = std::max(next, record.seconds);
  } else {
    // The next block in a process of its own; between: the next process.
    const int processes = records_per_start(plan);
    next = is_between(plan.question)
               ? expected_start_seconds(plan.question, plan.probe, plan.sizes.blocks_per_start) / processes
               : expected_start_seconds(plan.question, plan.probe, 1);
    for (const auto& block : records.blocks)
      next = std::max(next, block.seconds);
  }
  return next > screen_seconds_left(plan, records);
}

}  // namespace weir::lab
