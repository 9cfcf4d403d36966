#include "cli/top_table.h"

#include <algorithm>
#include <array>

#include "cli/governed_words.h"
#include "report/style.h"
#include "wire/agent_settings.h"

namespace weir::cli {

enum class TopTable::Column : std::size_t {
  kPid,
  kCommand,
  kAllocator,
  kBackend,
  kPhase,
  kFootprint,
  kResident,
  kLive,
  kRetained,
  kCacheLimit,
  kMemoryLimit,
  kLayers,
  kReused,
  kAllocations,
  kFaults,
  kHistory,
  kSince,
};

namespace {

/// In the order in which they stand.
struct ColumnText {
  const char* head;
  int least;     ///< Columns.
  int priority;  ///< Lower is more important.
  bool right;
};

constexpr std::array<ColumnText, 17> kColumns{{
    {"pid", 5, 0, true},
    {"command", 9, 1, false},
    {"allocator", 10, 13, false},
    {"backend", 7, 17, false},
    {"phase", 7, 12, false},
    {"footprint", 9, 2, true},
    {"resident", 8, 3, true},
    {"live", 7, 10, true},
    {"retained", 8, 9, true},
    {"cache lim", 9, 8, true},
    {"mem lim", 7, 11, true},
    {"layers", 10, 4, false},
    {"reused", 7, 5, true},
    {"alloc/s", 7, 6, true},
    {"faults/s", 8, 6, true},
    {"history", 7, 7, false},
    {"since", 8, 14, true},
}};

constexpr int kGap = 1;
constexpr int kWidestCommand = 24;
constexpr int kWidestBar = 60;
constexpr int kWidestHistory = 40;

std::string rate_word(const std::optional<double>& rate) {
  return rate ? short_count(*rate) : "?";
}

}  // namespace

TopTable::TopTable(const std::vector<WatchedProcess>& processes, const TopFrame& frame)
    : frame_(frame), widths_(kColumns.size(), 0) {
  for (const WatchedProcess& process : processes)
    scale_ = std::max(scale_, process.now.layers.footprint.value_or(0));
  choose(processes);
}

int TopTable::width_of(Column column) const noexcept {
  return widths_[static_cast<std::size_t>(column)];
}

void TopTable::choose(const std::vector<WatchedProcess>& processes) {
  int pid = kColumns[0].least, command = kColumns[1].least;
  bool has_device = false;
  for (const WatchedProcess& process : processes) {
    const ledger::PageReading& page = process.now.page;
    pid = std::max(pid, static_cast<int>(std::to_string(page.pid).size()));
    command = std::max(command, report::display_width(page.command));
    has_device = has_device || page.backend != wire::Backend::kCpu;
  }
  std::array<std::size_t, kColumns.size()> order{};
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [](std::size_t a, std::size_t b) { return kColumns[a].priority < kColumns[b].priority; });
  int left = frame_.width + kGap;
  for (const std::size_t i : order) {
    if (i == static_cast<std::size_t>(Column::kBackend) && !has_device) continue;
    const int width = i == 0 ? pid : kColumns[i].least;
    if (left < width + kGap) break;
    widths_[i] = width;
    left -= width + kGap;
  }
  const auto grow = [&](Column column, int most, int part) {
    int& width = widths_[static_cast<std::size_t>(column)];
    const int more = width == 0 ? 0 : std::clamp(most - width, 0, std::max(left / part, 0));
    width += more;
    left -= more;
  };
  grow(Column::kCommand, std::min(command, kWidestCommand), 1);
  grow(Column::kHistory, kWidestHistory, 2);
  grow(Column::kLayers, kWidestBar, 1);
}

TopLine TopTable::head() const {
  TopLine line;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (widths_[i] == 0) continue;
    if (line.width() > 0) line.add(" ", Ink::kHead);
    line.add_cell(kColumns[i].head, widths_[i], kColumns[i].right, frame_, Ink::kHead);
  }
  return line;
}

void TopTable::add_cell(TopLine& line, Column column, const WatchedProcess& process) const {
  const ledger::PageReading& page = process.now.page;
  const ledger::Layers& layers = process.now.layers;
  const int width = width_of(column);
  const auto cell = [&](const std::string& text, Ink ink = Ink::kPlain) {
    line.add_cell(text, width, kColumns[static_cast<std::size_t>(column)].right, frame_, ink);
  };
  const auto limit = [&](std::uint64_t bytes) { cell(is_counted(page) ? limit_word(bytes) : "?"); };
  switch (column) {
    case Column::kPid:
      return cell(std::to_string(page.pid));
    case Column::kCommand:
      return cell(page.command, page.state == wire::PageState::kGoverned ? Ink::kPlain : Ink::kWarning);
    case Column::kAllocator:
      return cell(wire::allocator_name(page.allocator));
    case Column::kBackend:
      return cell(backend_word(page.backend));
    case Column::kPhase:
      return cell(page.state == wire::PageState::kGoverned ? phase_word(page.phase) : state_word(page.state));
    case Column::kFootprint:
      return cell(bytes_word(layers.footprint), Ink::kStrong);
    case Column::kResident:
      return cell(bytes_word(layers.resident));
    case Column::kLive:
      return cell(bytes_word(layers.live));
    case Column::kRetained:
      return cell(bytes_word(layers.retained));
    case Column::kCacheLimit:
      return limit(page.cache_limit);
    case Column::kMemoryLimit:
      return limit(page.memory_limit);
    case Column::kLayers:
      return add_layers_bar(line, layers, scale_, width, frame_);
    case Column::kReused:
      return cell(hit_word(page));
    case Column::kAllocations:
      return cell(rate_word(process.allocations_per_second));
    case Column::kFaults:
      return cell(rate_word(process.faults_per_second));
    case Column::kHistory:
      return cell(sparkline(process.footprints, width, frame_.unicode), Ink::kFaint);
    case Column::kSince:
      return cell(duration_word(process.now.since_seconds));
  }
}

TopLine TopTable::row(const WatchedProcess& process) const {
  TopLine line;
  for (std::size_t i = 0; i < kColumns.size(); ++i) {
    if (widths_[i] == 0) continue;
    if (line.width() > 0) line.add(" ");
    add_cell(line, static_cast<Column>(i), process);
  }
  return line;
}

}  // namespace weir::cli
