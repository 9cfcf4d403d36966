#include "report/markdown_arms.h"

#include <fmt/format.h>

#include "base/byte_text.h"
#include "report/figures.h"
#include "report/markdown.h"
#include "report/markdown_table.h"
#include "report/priced_rows.h"

namespace weir::report {

namespace {

std::string bounds(const std::optional<double>& lower, const std::optional<double>& upper) {
  return (lower ? change(*lower) : "?") + " … " + (upper ? change(*upper) : "?");
}

std::string probability(const std::optional<double>& p) {
  if (!p) return "?";
  return *p < 0.0001 ? "< 0.0001" : fmt::format("{:.4f}", *p);
}

/// A whole number with commas, or "?".
std::string shown(const std::optional<std::int64_t>& number) {
  return number ? with_commas(*number) : "?";
}

}  // namespace

std::string priced_section(const lab::CellResult& cell, lab::Design design) {
  const PricedTable priced = priced_table(cell);
  const std::string unit = std::string(", ") + priced.unit.name;
  MarkdownTable table({priced.arm_head, "footprint" + unit, "live peak" + unit, "retained" + unit,
                       "faults, k", "prefill, tok/s", "decode, tok/s", "verdict"},
                      "lrrrrrrl");
  for (const PricedRow& row : priced.rows)
    table.add({row.limit, row.footprint, row.live_peak, row.retained, row.faults, row.prefill, row.decode,
               row.verdict});
  const std::string speeds =
      design == lab::Design::kBetween
          ? "and so do the speeds, from others of them: arms of MLX's own allocator and "
            "of the pool's cannot be switched in one process"
          : "speeds from turns within one process";
  return "## " + markdown_escaped(cell_line(cell)) + "\n\n" + table.text() +
         "\nThe baseline's figures are absolute, the others are changes against it; brackets hold one-sided "
         "bounds at "
         "the plan's corrected level. Footprint, live peak, retained and faults come from fresh processes of "
         "one arm "
         "each, " +
         speeds + ".\n\n";
}

std::string verdict_section(const lab::CellResult& cell) {
  std::string out = "## Verdicts\n\n";
  for (const lab::ArmResult& arm : cell.arms) {
    if (arm.is_baseline) continue;
    out += fmt::format("- **{}**: {}. {}\n", markdown_escaped(arm.name), verdict_text(arm),
                       markdown_escaped(arm.sentence));
  }
  return out + "\n";
}

std::string bounds_section(const lab::CellResult& cell) {
  MarkdownTable table({"arm", "metric", "change", "bounds", "n", "MDE", "p (not worse)", "p (worse)"},
                      "llrrrrrr");
  for (const lab::ArmResult& arm : cell.arms) {
    for (const auto& [metric, ratio] : arm.change) {
      table.add({arm.name, metric, change(ratio.ratio), bounds(ratio.lower, ratio.upper),
                 std::to_string(ratio.n), ratio.mde ? percent(*ratio.mde) : "?",
                 probability(ratio.p_not_worse), probability(ratio.p_worse)});
    }
    if (!arm.saved_bytes) continue;
    const lab::Saved& saved = *arm.saved_bytes;
    table.add({arm.name, "saved_bytes", with_commas(saved.value),
               shown(saved.lower) + " … " + shown(saved.upper), std::to_string(saved.n), "",
               probability(saved.p_saved), probability(saved.p_not_saved)});
  }
  if (table.empty()) return "";
  return "## Bounds\n\n" + table.text() +
         "\nFor `saved_bytes` the two p columns are those of \"saves at most\" and \"saves at least\" the "
         "rule's "
         "bytes.\n\n";
}

std::string exact_section(const lab::CellResult& cell) {
  MarkdownTable table({"arm", "limit in force, bytes", "footprint peak, bytes", "live peak, bytes",
                       "retained peak, bytes", "page faults", "prefill, tok/s", "decode, tok/s"},
                      "lrrrrrrr");
  const auto shown_rate = [](const std::optional<double>& rate) {
    return rate ? speed(*rate) : std::string("?");
  };
  for (const lab::ArmResult& arm : cell.arms) {
    const lab::Measured& measured = arm.measured;
    std::string footprint = shown(measured.footprint_peak_bytes);
    if (measured.footprint_peak_low_bytes &&
        measured.footprint_peak_low_bytes != measured.footprint_peak_bytes)
      footprint = shown(measured.footprint_peak_low_bytes) + " … " + footprint;
    table.add({arm.name, arm.cache_limit_bytes ? with_commas(*arm.cache_limit_bytes) : "no limit", footprint,
               shown(measured.live_peak_bytes), shown(measured.retained_peak_bytes),
               shown(measured.page_faults), shown_rate(measured.prefill_tokens_per_second),
               shown_rate(measured.decode_tokens_per_second)});
  }
  return "## Measured\n\n" + table.text() + "\n";
}

std::string noise_section(const lab::CellResult& cell, const lab::Rule& rule, lab::Design design) {
  const bool between = design == lab::Design::kBetween;
  std::string out = "## A against A\n\n" + markdown_escaped(noise_line(cell, rule)) + ".\n\n";
  if (cell.noise.empty()) return out;
  MarkdownTable table({"metric", "sd of a pair", "sd of a start", "smallest loss seen",
                       between ? "second start / first" : "second turn / first",
                       between ? "blocks of starts" : "starts", "pairs", "minutes to see the margin"},
                      "lrrrrrrr");
  for (const lab::NoiseFloor& floor : cell.noise) {
    table.add({floor.metric, percent(floor.sd_pair), percent(floor.sd_start),
               floor.mde ? percent(*floor.mde) : "?", fmt::format("{:.4f}", floor.bias),
               std::to_string(floor.starts), std::to_string(floor.pairs),
               floor.minutes_for_margin ? minutes(*floor.minutes_for_margin) : "?"});
  }
  return out + table.text() +
         fmt::format("\nTwo baseline {} stand in every block; what they differ by is noise.\n\n",
                     between ? "starts" : "turns");
}

}  // namespace weir::report
