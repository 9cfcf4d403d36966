#include "lab/noise.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/samples.h"
#include "lab/sizing.h"
#include "stats/sizing.h"
#include "stats/summary.h"
#include "stats/wilcoxon.h"

namespace weir::lab {

namespace {

constexpr int kMostStarts = 5'000;

NoiseFloor floor_of(const Plan& plan, const Records& records, const char* metric,
                    const std::vector<double>& blocks, const std::vector<double>& starts) {
  const auto pair = stats::summarize(blocks);
  const auto start = stats::summarize(starts);
  const double level = smallest_ship_level(plan);
  NoiseFloor out;
  out.metric = metric;
  out.pairs = static_cast<int>(pair.n);
  out.starts = static_cast<int>(start.n);
  out.sd_pair = pair.sd;
  out.bias = std::exp(pair.mean);
  const bool crossover = design_of(plan.question) == Design::kCrossover;
  const double of_blocks = crossover ? pair.sd / std::sqrt(plan.sizes.blocks_per_start) : 0;
  out.sd_start = std::sqrt(0.75) * std::max(start.sd, of_blocks);
  if (const auto effect = stats::minimum_detectable_effect(out.sd_start, plan.sizes.starts, level))
    out.mde = 1 - std::exp(-*effect);
  if (out.pairs < 2) return out;
  const auto needed = starts_for_effect(out.sd_start, -std::log1p(-plan.question.rule.margin), level);
  if (needed)
    out.minutes_for_margin =
        (*needed * seconds_per_start(plan, records) + expected_footprint_seconds(plan)) / 60;
  return out;
}

}  // namespace

std::optional<int> starts_for_effect(double sd_start, double log_effect, double level) {
  for (int n = std::max(2, stats::smallest_n_for_level(level)); n <= kMostStarts; ++n) {
    const auto effect = stats::minimum_detectable_effect(sd_start, n, level);
    if (effect && *effect <= log_effect) return n;
  }
  return std::nullopt;
}

double seconds_per_start(const Plan& plan, const Records& records) {
  if (records.blocks.empty()) return expected_speed_seconds(plan) / plan.sizes.starts;
  double time = 0;
  for (const auto& block : records.blocks)
    time += block.seconds;
  return time / static_cast<double>(records.blocks.size()) * records_per_start(plan);
}

std::vector<NoiseFloor> noise_floors(const Plan& plan, const Records& records) {
  const auto equal = collect(plan, records, plan.sizes.starts).equal;
  if (equal.decode_blocks.empty()) return {};
  return {floor_of(plan, records, kDecode, equal.decode_blocks, equal.decode_starts),
          floor_of(plan, records, kPrefill, equal.prefill_blocks, equal.prefill_starts)};
}

}  // namespace weir::lab
