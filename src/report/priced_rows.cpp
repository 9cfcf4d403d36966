#include "report/priced_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/byte_text.h"

namespace weir::report {

namespace {

using Figure = std::optional<std::int64_t>;

std::string shown(const Figure& figure, const std::function<std::string(std::int64_t)>& text) {
  return figure ? text(*figure) : "?";
}

std::string shown_speed(const std::optional<double>& rate) {
  return rate ? speed(*rate) : "?";
}

PricedRow baseline_row(const lab::ArmResult& arm, const ByteUnit& unit) {
  const auto size = [&](std::int64_t bytes) { return in_unit(bytes, unit); };
  const lab::Measured& measured = arm.measured;
  return {arm.name,
          shown(measured.footprint_peak_bytes, size),
          shown(measured.live_peak_bytes, size),
          shown(measured.retained_peak_bytes, size),
          shown(measured.page_faults, thousands),
          shown_speed(measured.prefill_tokens_per_second),
          shown_speed(measured.decode_tokens_per_second),
          verdict_text(arm),
          &arm};
}

std::string size_change(const Figure& arm, const Figure& baseline, const ByteUnit& unit) {
  return arm && baseline ? signed_in_unit(*arm - *baseline, unit) : "?";
}

std::string speed_change(const lab::ArmResult& arm, const char* metric) {
  const auto found = arm.change.find(metric);
  return found == arm.change.end() ? "?" : change_with_bound(found->second);
}

std::string fault_change(const lab::ArmResult& arm, const lab::Measured& baseline) {
  const auto found = arm.change.find(lab::kPageFaults);
  if (found != arm.change.end()) return change(found->second.ratio);
  if (!arm.measured.page_faults || !baseline.page_faults || *baseline.page_faults <= 0) return "?";
  return change(static_cast<double>(*arm.measured.page_faults) / static_cast<double>(*baseline.page_faults));
}

PricedRow arm_row(const lab::ArmResult& arm, const lab::Measured& baseline, const ByteUnit& unit) {
  const lab::Measured& measured = arm.measured;
  return {arm.name,
          arm.saved_bytes ? saving_with_bound(*arm.saved_bytes, unit)
                          : size_change(measured.footprint_peak_bytes, baseline.footprint_peak_bytes, unit),
          size_change(measured.live_peak_bytes, baseline.live_peak_bytes, unit),
          size_change(measured.retained_peak_bytes, baseline.retained_peak_bytes, unit),
          fault_change(arm, baseline),
          speed_change(arm, lab::kPrefill),
          speed_change(arm, lab::kDecode),
          verdict_text(arm),
          &arm};
}

std::string metric_word(const std::string& metric) {
  if (metric == lab::kDecode) return "decode";
  return metric == lab::kPrefill ? "prefill" : metric;
}

}  // namespace

PricedTable priced_table(const lab::CellResult& cell) {
  PricedTable table;
  lab::Measured baseline;
  std::int64_t largest = 0;
  for (const lab::ArmResult& arm : cell.arms) {
    if (arm.is_baseline) baseline = arm.measured;
    largest = std::max(largest, arm.measured.footprint_peak_bytes.value_or(0));
  }
  const bool one_allocator = std::all_of(cell.arms.begin(), cell.arms.end(), [](const lab::ArmResult& arm) {
    return !lab::is_pool(arm.allocator);
  });
  table.arm_head = one_allocator ? "freed buffers kept" : "arm";
  table.unit = byte_unit(largest);
  for (const lab::ArmResult& arm : cell.arms)
    if (arm.is_baseline) table.rows.push_back(baseline_row(arm, table.unit));
  for (const lab::ArmResult& arm : cell.arms)
    if (!arm.is_baseline) table.rows.push_back(arm_row(arm, baseline, table.unit));
  return table;
}

std::string cell_line(const lab::CellResult& cell) {
  if (cell.footprint_prompts <= 0) return "cell " + cell.name;
  std::string tokens = with_commas(cell.shortest_prompt_tokens);
  if (cell.longest_prompt_tokens != cell.shortest_prompt_tokens)
    tokens += "–" + with_commas(cell.longest_prompt_tokens);
  return fmt::format("cell {}: {} of {} prompts, {} tokens", cell.name, cell.footprint_prompts,
                     cell.footprint_prompts_of, tokens);
}

std::string noise_line(const lab::CellResult& cell, const lab::Rule& rule) {
  std::string floors;
  double longest = 0;
  for (const lab::NoiseFloor& floor : cell.noise) {
    if (!floor.mde || !std::isfinite(*floor.mde)) continue;
    floors += (floors.empty() ? "" : ", ") + metric_word(floor.metric) + " ±" + percent(*floor.mde);
    longest = std::max(longest, floor.minutes_for_margin.value_or(0));
  }
  if (floors.empty()) return "A against A: too few starts to know what this machine can tell apart";
  std::string text = "A against A: " + floors;
  if (longest > 0 && std::isfinite(longest))
    text += fmt::format("; a {:g} % question takes {} here", rule.margin * 100, minutes(longest));
  return text;
}

std::string design_text(const lab::ExperimentResult& result) {
  const bool between = result.design == lab::Design::kBetween;
  std::string text = std::to_string(result.starts);
  if (result.starts != result.starts_planned) text += " of " + std::to_string(result.starts_planned);
  if (between) {
    const std::size_t processes = result.cells.empty() ? 0 : result.cells[0].arms.size() + 1;
    text = fmt::format("between: {} block{} × {} starts", text, result.starts_planned == 1 ? "" : "s",
                       processes);
    if (result.blocks_per_start > 1) text += fmt::format(" × {} turns", result.blocks_per_start);
  } else {
    text = fmt::format("{} start{} × {} block{}", text, result.starts_planned == 1 ? "" : "s",
                       result.blocks_per_start, result.blocks_per_start == 1 ? "" : "s");
  }
  if (result.looks > 1) text += fmt::format(", look {} of {}", result.looks_done, result.looks);
  return text;
}

}  // namespace weir::report
