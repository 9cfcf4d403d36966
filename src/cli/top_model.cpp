#include "cli/top_model.h"

#include <algorithm>
#include <limits>

namespace weir::cli {
namespace {

constexpr std::ptrdiff_t kPage = 10;
constexpr std::ptrdiff_t kFar = std::numeric_limits<std::ptrdiff_t>::max() / 2;
constexpr std::size_t kSorts = static_cast<std::size_t>(TopSort::kRun) + 1;
/// No panel is longer than this; the view shows what there is.
constexpr std::size_t kMostScrolled = 200;

/// Larger comes first. What is unknown comes last.
double weight(const WatchedProcess& process, TopSort sort) {
  const ledger::PageReading& page = process.now.page;
  switch (sort) {
    case TopSort::kFootprint:
      return static_cast<double>(process.now.layers.footprint.value_or(-1));
    case TopSort::kRetained:
      return static_cast<double>(process.now.layers.retained.value_or(-1));
    case TopSort::kAllocations:
      return process.allocations_per_second.value_or(-1);
    case TopSort::kFaults:
      return process.faults_per_second.value_or(-1);
    case TopSort::kReused: {
      const double all = static_cast<double>(page.hits) + static_cast<double>(page.misses);
      return all > 0 ? static_cast<double>(page.misses) / all : -1;
    }
    case TopSort::kRun:
      break;
  }
  return 0;
}

/// How far a key moves; 0 for one that moves nothing.
std::ptrdiff_t step_of(TopKey key) {
  switch (key) {
    case TopKey::kUp:
      return -1;
    case TopKey::kDown:
      return 1;
    case TopKey::kPageUp:
      return -kPage;
    case TopKey::kPageDown:
      return kPage;
    case TopKey::kHome:
      return -kFar;
    case TopKey::kEnd:
      return kFar;
    default:
      return 0;
  }
}

std::size_t moved(std::size_t from, std::ptrdiff_t step, std::size_t most) {
  return static_cast<std::size_t>(std::clamp(static_cast<std::ptrdiff_t>(from) + step, std::ptrdiff_t{0},
                                             static_cast<std::ptrdiff_t>(most)));
}

}  // namespace

const char* sort_word(TopSort sort) noexcept {
  switch (sort) {
    case TopSort::kFootprint:
      return "footprint";
    case TopSort::kRetained:
      return "retained";
    case TopSort::kAllocations:
      return "alloc/s";
    case TopSort::kFaults:
      return "faults/s";
    case TopSort::kReused:
      return "reused";
    case TopSort::kRun:
      break;
  }
  return "run";
}

const WatchedProcess* TopModel::selected_process() const noexcept {
  return selected_ < processes_.size() ? &processes_[selected_] : nullptr;
}

void TopModel::show(const std::vector<WatchedProcess>& processes) {
  std::optional<ledger::PageReading> chosen;
  if (const WatchedProcess* before = selected_process()) chosen = before->now.page;
  processes_ = processes;
  order();
  const auto again = std::find_if(processes_.begin(), processes_.end(), [&](const WatchedProcess& process) {
    return chosen && process.now.page.same_process(*chosen);
  });
  if (again != processes_.end()) selected_ = static_cast<std::size_t>(again - processes_.begin());
  select(0);
}

void TopModel::order() {
  std::stable_sort(processes_.begin(), processes_.end(), [&](const auto& left, const auto& right) {
    const double left_weight = weight(left, sort_), right_weight = weight(right, sort_);
    if (left_weight != right_weight) return left_weight > right_weight;
    return std::pair(left.now.page.run, left.now.page.pid) <
           std::pair(right.now.page.run, right.now.page.pid);
  });
}

void TopModel::select(std::ptrdiff_t step) {
  if (!processes_.empty()) selected_ = moved(selected_, step, processes_.size() - 1);
}

void TopModel::toggle(TopPanel panel) {
  panel_ = panel_ == panel ? TopPanel::kDetails : panel;
  scrolled_ = 0;
}

bool TopModel::press_in_panel(TopKey key) {
  if (const std::ptrdiff_t step = step_of(key); step != 0) scrolled_ = moved(scrolled_, step, kMostScrolled);
  return true;
}

bool TopModel::press(TopKey key) {
  if (key == TopKey::kQuit) return false;
  if (key == TopKey::kWhy) toggle(TopPanel::kWhy);
  if (key == TopKey::kHelp) toggle(TopPanel::kHelp);
  if (key == TopKey::kBack) toggle(panel_);
  if (panel_ != TopPanel::kDetails) return press_in_panel(key);
  if (key == TopKey::kSort) {
    sort_ = static_cast<TopSort>((static_cast<std::size_t>(sort_) + 1) % kSorts);
    // The top of the new order is what one wants to see.
    selected_ = 0;
    order();
  }
  select(step_of(key));
  return true;
}

}  // namespace weir::cli
