#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "ledger/process_table.h"

namespace weir::cli {

/// How many looks at one process are remembered.
inline constexpr std::size_t kTopMemory = 240;

/// What happened over the looks that are remembered.
struct TopWindow {
  double seconds = 0;
  std::uint64_t allocations = 0, hits = 0, misses = 0, tokens = 0;
};

/// One process over the time that it is watched.
struct WatchedProcess {
  ledger::GovernedProcess now;
  std::optional<double> allocations_per_second;  ///< Since the look before; nullopt at the first one.
  std::optional<double> faults_per_second;
  std::optional<double> tokens_per_second;  ///< nullopt also where none are marked.
  std::vector<std::int64_t> footprints;     ///< Oldest first, the present one last; at most kTopMemory.
  std::optional<TopWindow> window;          ///< nullopt at the first look.
};

/// Turns looks at processes into rates and histories. Pure; not thread-safe.
class TopHistory {
 public:
  /// All that live at one moment of a monotonic clock. Who is missing is forgotten; a number that now
  /// belongs to another program starts anew.
  void add(const std::vector<ledger::GovernedProcess>& processes, Nanoseconds now);

  /// In the order of the latest look.
  [[nodiscard]] const std::vector<WatchedProcess>& processes() const noexcept { return watched_; }

 private:
  struct Look {
    Nanoseconds at;
    std::uint64_t allocations, hits, misses, faults, tokens;
    std::int64_t footprint;
  };
  struct Past {
    ledger::PageReading who;
    std::deque<Look> looks;
  };
  static WatchedProcess watch(const ledger::GovernedProcess& process, const std::deque<Look>& looks);

  std::vector<Past> pasts_;
  std::vector<WatchedProcess> watched_;
};

}  // namespace weir::cli
