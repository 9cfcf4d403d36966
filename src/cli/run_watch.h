#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "ledger/governed_page.h"
#include "ledger/governed_peak.h"

namespace weir::cli {

/// One governed program: a process, or one of the programs that it was after each exec.
struct GovernedProgram {
  ledger::PageReading page;  ///< The last one that was read.
  bool was_off = false;      ///< weir had switched itself off in it.
};

/// Watches the pages of one run and the memory of its living processes from outside; looking never stops or
/// perturbs them. Not thread-safe.
class RunWatch {
 public:
  /// `joined`: the run is another's, so pages that were made before now are not ours to show, and none is
  /// ours to remove.
  RunWatch(std::filesystem::path folder, std::uint64_t run, bool joined);

  /// Reads every page of the run, and /proc/PID/status of each process that lives (some 50 µs for one). Of a
  /// thousand pages those of the dead are removed: they have been read.
  void sample();
  /// After the last sample: who of those seen still lives, also where the page is gone. Of the programs that
  /// one process was, only its last can.
  void settle();
  /// How long to wait before the next sample: 10 ms in the first two seconds, then 50 ms, and more where
  /// sampling would cost more than 0.7 % of a core.
  [[nodiscard]] std::chrono::milliseconds pause() const noexcept;

  /// By first appearance.
  [[nodiscard]] const std::vector<GovernedProgram>& programs() const noexcept { return programs_; }
  [[nodiscard]] const ledger::GovernedPeak& peak() const noexcept { return peak_; }

 private:
  void keep(const ledger::PageReading& page);
  void remove_dead(const std::vector<ledger::PageReading>& pages) const;

  std::filesystem::path folder_;
  std::uint64_t run_;
  bool joined_;
  std::uint64_t since_ns_ = 0;  ///< CLOCK_REALTIME.
  std::vector<GovernedProgram> programs_;
  ledger::GovernedPeak peak_;
  std::chrono::nanoseconds cost_{0};  ///< CPU time of the latest sample.
  std::chrono::steady_clock::time_point start_;
};

}  // namespace weir::cli
