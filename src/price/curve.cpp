#include "price/curve.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

#include "price/curve_json.h"
#include "report/figures.h"
#include "report/text_table.h"

namespace weir::price {

namespace {

constexpr std::int64_t kDay = 24 * 3600;

std::string speed_text(const CurveEntry& entry, const std::optional<double>& ratio,
                       const std::optional<double>& lower) {
  if (entry.is_baseline) return "baseline";
  if (!ratio) return "?";
  lab::Ratio change;
  change.ratio = *ratio;
  change.lower = lower;
  return report::change_with_bound(change);
}

std::string age_text(std::int64_t age_seconds) {
  if (age_seconds < 0) return "in the future";
  if (age_seconds < 3600) return fmt::format("{} min", age_seconds / 60);
  if (age_seconds < 2 * kDay) return fmt::format("{} h", age_seconds / 3600);
  return fmt::format("{} days", age_seconds / kDay);
}

bool is_fresh(const CurveEntry& entry, std::int64_t now) {
  store::CurvePoint point;
  point.measured_at = entry.measured_at;
  return store::is_fresh(point, now);
}

std::string verdict_text(const CurveEntry& entry) {
  if (entry.is_baseline) return "baseline";
  std::string reason = entry.reason;
  std::replace(reason.begin(), reason.end(), '_', ' ');
  return reason.empty() ? entry.verdict : entry.verdict + ": " + reason;
}

std::int64_t sort_bytes(const CurveEntry& entry) {
  return lab::effective_bytes(lab::Arm{entry.arm, entry.cache_limit, entry.allocator})
      .value_or(std::numeric_limits<std::int64_t>::max());
}

limits::AutoAnswer answer_of(const CurveEntry& entry, std::size_t cells) {
  limits::AutoAnswer answer;
  switch (entry.cache_limit.kind) {
    case lab::ArmLimit::Kind::kBytes:
      answer.mode = limits::Mode::kBytes;
      answer.bytes = entry.cache_limit.bytes;
      break;
    case lab::ArmLimit::Kind::kUnset:
      answer.mode = limits::Mode::kUnset;
      break;
    case lab::ArmLimit::Kind::kUnlimited:
      answer.mode = limits::Mode::kUnlimited;
      break;
  }
  answer.why = cells == 1 ? "fresh SHIP in the one cell of the stored suite, " + entry.cell
                          : fmt::format("fresh SHIP in all {} cells of the stored suite", cells);
  return answer;
}

}  // namespace

Result<std::vector<CurveEntry>> stored_curve(const store::Store& store, const CurveKey& key) {
  const auto points = store.curve_points(key.model_sha256, key.machine, key.library);
  if (!points) return tl::unexpected(points.error());
  std::vector<CurveEntry> curve;
  for (const store::CurvePoint& point : *points) {
    Result<CurveEntry> entry = entry_from(point);
    if (!entry) return tl::unexpected(entry.error());
    curve.push_back(std::move(*entry));
  }
  std::stable_sort(curve.begin(), curve.end(), [](const CurveEntry& a, const CurveEntry& b) {
    return std::make_tuple(std::string_view(a.cell), a.allocator, sort_bytes(a)) <
           std::make_tuple(std::string_view(b.cell), b.allocator, sort_bytes(b));
  });
  return curve;
}

std::string curve_text(std::span<const CurveEntry> curve, std::int64_t now, const report::Style& style) {
  if (curve.empty()) return "";
  std::int64_t largest = 0;
  for (const CurveEntry& entry : curve)
    largest = std::max(largest, entry.footprint_peak_bytes.value_or(0));
  const report::ByteUnit unit = report::byte_unit(largest);
  report::TextTable table(style);
  table.add_column("cell", report::Align::kLeft);
  table.add_column("limit", report::Align::kLeft);
  table.add_column(std::string("footprint ") + unit.name, report::Align::kRight);
  table.add_column("prefill", report::Align::kBounded, 1);
  table.add_column("decode", report::Align::kBounded);
  table.add_column("verdict", report::Align::kLeft);
  table.add_column("age", report::Align::kRight);
  for (const CurveEntry& entry : curve) {
    const std::string age =
        age_text(now - entry.measured_at) + (is_fresh(entry, now) ? "" : ", too old to count");
    table.add_row({entry.cell, entry.arm,
                   entry.footprint_peak_bytes ? report::in_unit(*entry.footprint_peak_bytes, unit) : "?",
                   speed_text(entry, entry.prefill_ratio, entry.prefill_lower),
                   speed_text(entry, entry.decode_ratio, entry.decode_lower), verdict_text(entry), age});
  }
  return table.text();
}

std::optional<limits::AutoAnswer> auto_answer(std::span<const CurveEntry> all, std::int64_t now,
                                              lab::Allocator allocator) {
  std::vector<CurveEntry> curve;
  std::copy_if(all.begin(), all.end(), std::back_inserter(curve),
               [&](const CurveEntry& entry) { return entry.allocator == allocator; });
  std::set<std::string> cells;
  for (const CurveEntry& entry : curve)
    cells.insert(entry.cell);
  const CurveEntry* best = nullptr;
  for (const CurveEntry& candidate : curve) {
    std::set<std::string> shipped;
    for (const CurveEntry& entry : curve)
      if (sort_bytes(entry) == sort_bytes(candidate) && entry.verdict == "SHIP" && is_fresh(entry, now))
        shipped.insert(entry.cell);
    if (shipped != cells) continue;
    if (best == nullptr || sort_bytes(candidate) < sort_bytes(*best)) best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  return answer_of(*best, cells.size());
}

}  // namespace weir::price
