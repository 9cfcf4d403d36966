#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/top_history.h"
#include "ledger/machine_memory.h"

namespace weir::cli {

enum class TopKey { kUp, kDown, kPageUp, kPageDown, kHome, kEnd, kWhy, kSort, kHelp, kBack, kQuit, kOther };
enum class TopPanel { kDetails, kWhy, kHelp };
/// kRun keeps a run's processes together; the others put the largest first, kReused the worst.
enum class TopSort { kFootprint, kRetained, kAllocations, kFaults, kReused, kRun };

/// "footprint", "retained", "alloc/s", "faults/s", "reused", "run".
[[nodiscard]] const char* sort_word(TopSort sort) noexcept;

/// What `weir top` shows and what its keys change: no clock, no terminal. Pure; not thread-safe.
class TopModel {
 public:
  /// Processes in the chosen order. The selected one stays selected wherever it now stands; when it is gone,
  /// its neighbour is.
  void show(const std::vector<WatchedProcess>& processes);
  /// False: the key ends it. In a panel `kUp` and `kDown` scroll it, and `kBack` or its own key closes it.
  [[nodiscard]] bool press(TopKey key);

  [[nodiscard]] const std::vector<WatchedProcess>& processes() const noexcept { return processes_; }
  [[nodiscard]] std::size_t selected() const noexcept { return selected_; }
  /// The selected process; nullptr: there is none.
  [[nodiscard]] const WatchedProcess* selected_process() const noexcept;
  [[nodiscard]] TopPanel panel() const noexcept { return panel_; }
  [[nodiscard]] TopSort sort() const noexcept { return sort_; }
  /// The first line of the panel that is shown.
  [[nodiscard]] std::size_t scrolled() const noexcept { return scrolled_; }

 private:
  void order();
  void select(std::ptrdiff_t step);
  void toggle(TopPanel panel);
  bool press_in_panel(TopKey key);

  std::vector<WatchedProcess> processes_;
  std::size_t selected_ = 0, scrolled_ = 0;
  TopPanel panel_ = TopPanel::kDetails;
  TopSort sort_ = TopSort::kFootprint;
};

/// What a screen tells beside the processes.
struct TopHeader {
  std::string clock;  ///< "14:03:07".
  std::string every;  ///< "1 s".
  std::optional<ledger::MachineMemory> machine;
};

}  // namespace weir::cli
