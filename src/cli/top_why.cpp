#include "cli/top_why.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/governed_words.h"
#include "cli/top_panel.h"

namespace weir::cli {
namespace {

constexpr double kNearlyAll = 0.99;
constexpr double kNearLimit = 0.9;
constexpr double kPerAllocations = 1'000;

bool keeps_by_size(const ledger::PageReading& page) {
  return page.allocator == wire::Allocator::kMlxPolicy;
}

WhyRow row_of(const ledger::PageReading& page, std::size_t size_class) {
  const ledger::SizeClassReading& one = page.size_classes[size_class];
  WhyRow row;
  row.size_class = size_class;
  row.allocations = one.allocations;
  row.hits = std::min(one.hits, one.allocations);
  row.misses = one.allocations - row.hits;
  if (keeps_by_size(page)) row.retained = one.retained;
  row.since_allocation = page.allocations > one.last_allocation ? page.allocations - one.last_allocation : 0;
  const bool matters = keeps_by_size(page) ? one.retained > 0 : one.allocations > 0;
  row.dead = matters && row.since_allocation > kDeadAfter;
  return row;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

void add_misses_per(const WatchedProcess& process, WhyReport& report) {
  const ledger::PageReading& page = process.now.page;
  report.per_token = page.tokens > 0;
  const auto per = [&](std::uint64_t misses, std::uint64_t tokens, std::uint64_t allocations) {
    const double base =
        report.per_token ? static_cast<double>(tokens) : static_cast<double>(allocations) / kPerAllocations;
    return base > 0 ? std::optional(static_cast<double>(misses) / base) : std::nullopt;
  };
  report.misses_per = per(report.misses, page.tokens, report.allocations).value_or(0);
  if (process.window)
    report.lately = per(process.window->misses, process.window->tokens, process.window->allocations);
}

/// What a person can do about it; the first that holds.
std::string reason(const ledger::PageReading& page, const WhyReport& report) {
  if (!is_counted(page)) return "weir stays out of this process, and counts nothing in it.";
  if (report.allocations == 0) return "Nothing was asked for yet.";
  if (static_cast<double>(report.hits) >= kNearlyAll * static_cast<double>(report.allocations))
    return "Nearly every request is met by a freed buffer.";
  if (page.cache_limit == 0)
    return "The cache limit is 0: what is freed goes back at once, so every block is fresh.";
  const bool full = page.cache_limit != wire::kNoLimit &&
                    static_cast<double>(page.retained) >= kNearLimit * static_cast<double>(page.cache_limit);
  if (report.dead_retained && share(*report.dead_retained, page.retained) >= 0.5)
    return fmt::format(
        "Dead sizes hold most of what is kept{}: a trim frees them, and the sizes that are asked "
        "for can take their place.",
        full ? ", and the limit is reached" : "");
  if (full)
    return "The cache limit is reached: a larger one would keep more, `weir price` tells what it costs.";
  if (page.allocator == wire::Allocator::kWeir)
    return "weir joins free blocks of any size: a miss is the demand that grows above what was kept.";
  return "MLX reuses a freed buffer only for a request of more than half its size: lengths that change miss.";
}

std::string size_word(std::size_t size_class) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
  if (size_class + 1 == wire::kSizeClasses) return "larger";
  return fmt::format("≤ {} {}", std::uint64_t{1} << (size_class % 10), kUnits[size_class / 10]);
}

std::string count_word(std::uint64_t count) {
  return count < 10'000 ? with_commas(static_cast<std::int64_t>(count))
                        : short_count(static_cast<double>(count));
}

std::string ago_word(const WhyRow& row) {
  if (row.allocations == 0) return "never";
  return row.since_allocation == 0 ? "now" : count_word(row.since_allocation) + " ago";
}

struct WhyColumns {
  int size = 10, count = 9, per = 11, retained = 9, ago = 12, bar = 0;
};

WhyColumns columns_of(const TopFrame& frame) {
  WhyColumns columns;
  constexpr int kGaps = 7, kDeadMark = 5;
  columns.bar = frame.width - columns.size - 2 * columns.count - columns.per - columns.retained -
                columns.ago - kGaps - kDeadMark;
  columns.bar = std::clamp(columns.bar, 0, 60);
  return columns;
}

TopLine head_line(const WhyReport& report, const TopFrame& frame) {
  const WhyColumns columns = columns_of(frame);
  TopLine line;
  line.add_cell("size", columns.size, true, frame, Ink::kHead).add(" ", Ink::kHead);
  line.add_cell("asked", columns.count, true, frame, Ink::kHead).add(" ", Ink::kHead);
  line.add_cell("fresh", columns.count, true, frame, Ink::kHead).add(" ", Ink::kHead);
  line.add_cell(report.per_token ? "fresh/token" : "fresh/1,000", columns.per, true, frame, Ink::kHead);
  line.add(" ", Ink::kHead).add_cell("retained", columns.retained, true, frame, Ink::kHead);
  line.add(" ", Ink::kHead).add_cell("last asked", columns.ago, true, frame, Ink::kHead);
  line.add(" ", Ink::kHead).add_cell("", 4, false, frame, Ink::kHead);
  return line.add(" ", Ink::kHead).add_cell("reused, fresh", columns.bar, false, frame, Ink::kHead);
}

/// Requests met by freed buffers, then those that needed fresh memory; the longest bar is the busiest size.
void add_request_bar(TopLine& line, const WhyRow& row, std::uint64_t most, int width, const TopFrame& frame) {
  const auto cells = [&](std::uint64_t count) {
    return most == 0 ? 0
                     : static_cast<int>(static_cast<double>(count) / static_cast<double>(most) * width + 0.5);
  };
  const int all = cells(row.allocations);
  const int reused = std::min(all, cells(row.hits));
  for (int i = 0; i < all; ++i)
    line.add(i < reused ? (frame.unicode ? "█" : "#") : (frame.unicode ? "░" : "-"),
             i < reused ? Ink::kLive : Ink::kWarning);
}

TopLine row_line(const WhyRow& row, const WhyReport& report, double base, std::uint64_t most,
                 const TopFrame& frame) {
  const WhyColumns columns = columns_of(frame);
  TopLine line;
  line.add_cell(size_word(row.size_class), columns.size, true, frame).add(" ");
  line.add_cell(count_word(row.allocations), columns.count, true, frame).add(" ");
  line.add_cell(count_word(row.misses), columns.count, true, frame).add(" ");
  line.add_cell(base > 0 ? short_count(static_cast<double>(row.misses) / base) : "?", columns.per, true,
                frame);
  line.add(" ").add_cell(row.retained ? bytes_word(row.retained) : "?", columns.retained, true, frame);
  line.add(" ").add_cell(ago_word(row), columns.ago, true, frame);
  line.add(" ").add_cell(row.dead ? "dead" : "", 4, false, frame,
                         report.retained ? Ink::kWarning : Ink::kFaint);
  line.add(" ");
  add_request_bar(line, row, most, columns.bar, frame);
  return line;
}

std::string totals(const WhyReport& report) {
  const auto percent = [&](std::uint64_t part) {
    return report.allocations == 0
               ? 0
               : 100.0 * static_cast<double>(part) / static_cast<double>(report.allocations);
  };
  std::string text =
      fmt::format("{} requests: {:.1f} % reused a freed buffer, {} needed fresh memory: {} per {}",
                  count_word(report.allocations), percent(report.hits), count_word(report.misses),
                  short_count(report.misses_per), report.per_token ? "token" : "1,000");
  if (report.lately) text += fmt::format(" (lately {})", short_count(*report.lately));
  return text;
}

std::string kept(const ledger::PageReading& page, const WhyReport& report) {
  const std::string dead = fmt::format("{} size{}", report.dead_sizes, report.dead_sizes == 1 ? "" : "s");
  if (report.dead_retained)
    return fmt::format(
        "retained {}; of it {} in {} that nobody asked for during the last 10,000 requests: dead",
        bytes_word(report.retained), bytes_word(report.dead_retained), dead);
  return fmt::format(
      "retained {}, {}; {} not asked for during the last 10,000 requests", bytes_word(report.retained),
      page.allocator == wire::Allocator::kWeir ? "free for any size" : "MLX does not tell of what sizes",
      dead);
}

}  // namespace

WhyReport why_not_reused(const WatchedProcess& process) {
  const ledger::PageReading& page = process.now.page;
  WhyReport report;
  if (keeps_by_size(page)) report.dead_retained = 0;
  if (is_counted(page)) report.retained = page.retained;
  for (std::size_t c = 0; c < page.size_classes.size(); ++c) {
    const WhyRow row = row_of(page, c);
    if (row.allocations == 0 && row.retained.value_or(0) == 0) continue;
    report.dead_sizes += row.dead;
    if (row.dead && report.dead_retained) *report.dead_retained += row.retained.value_or(0);
    report.rows.push_back(row);
  }
  report.allocations = page.hits + page.misses;
  report.hits = page.hits;
  report.misses = page.misses;
  add_misses_per(process, report);
  report.sentence = reason(page, report);
  return report;
}

std::vector<TopLine> why_lines(const WatchedProcess& process, std::size_t first_row, const TopFrame& frame) {
  const ledger::PageReading& page = process.now.page;
  const WhyReport report = why_not_reused(process);
  std::vector<TopLine> lines = {TopLine(
      fmt::format("why freed buffers are not reused: {} (pid {})", page.command, page.pid), Ink::kStrong)};
  for (const std::string& text : {totals(report), kept(page, report), report.sentence})
    add_wrapped(lines, text, frame);
  lines.push_back(TopLine());
  lines.push_back(head_line(report, frame));
  std::uint64_t most = 0;
  for (const WhyRow& row : report.rows)
    most = std::max(most, row.allocations);
  const double base = report.per_token ? static_cast<double>(page.tokens)
                                       : static_cast<double>(report.allocations) / kPerAllocations;
  if (report.rows.empty()) lines.push_back(TopLine("no request was counted by size", Ink::kFaint));
  const auto height = static_cast<std::size_t>(std::max(frame.height, 0));
  const std::size_t shown = std::min(report.rows.size(), height > lines.size() ? height - lines.size() : 0);
  const std::size_t first = std::min(first_row, report.rows.size() - shown);
  for (std::size_t i = first; i < first + shown; ++i)
    lines.push_back(row_line(report.rows[i], report, base, most, frame));
  lines.resize(std::min(lines.size(), height));
  return lines;
}

}  // namespace weir::cli
