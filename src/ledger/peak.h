#pragma once

#include <cstdint>
#include <string>

#include "ledger/proc_status.h"

namespace weir::ledger {

/// The largest footprint within a window, as an interval: the kernel's high-water mark counts file pages too,
/// and nobody saw the process at that moment.
struct PeakFootprint {
  std::int64_t high_bytes = 0;
  std::int64_t low_bytes = 0;
  std::string source;  ///< The kernel counter, whether it was reset, and what makes the width.
};

/// What the caller knows about mapped files inside the window.
enum class FileMappings {
  kMayGo,  ///< Nothing: a file may be mapped, touched and unmapped between two observations.
  kStay,   ///< None is unmapped and no page of one is dropped, so RssFile at the peak was at most the largest
           ///< seen.
};

/// The extremes of all observations of a window, and the interval that follows from them. Pure.
///   high = VmHWM − smallest RssFile seen + largest VmSwap seen + counter error, at least the largest
///   footprint seen low  = largest footprint seen − counter error; with kStay and a mark that was reset also
///          VmHWM − largest RssFile seen − counter error, whichever is larger
/// Swap that comes and goes between two observations is not seen.
class PeakWindow {
 public:
  explicit PeakWindow(const ProcStatus& first) noexcept;
  void add(const ProcStatus& status) noexcept;
  [[nodiscard]] PeakFootprint bound(bool mark_was_reset, std::int64_t counter_error,
                                    FileMappings files) const;

 private:
  std::int64_t smallest_file_;
  std::int64_t largest_file_;
  std::int64_t largest_footprint_;
  std::int64_t largest_swap_;
  std::int64_t high_water_;
};

/// How far VmRSS and VmHWM may be off: since Linux 6.2 each of their counters keeps up to max(32, 2 × CPUs)
/// pages per CPU that are not yet added. Four standard deviations of such remainders on all CPUs for the two
/// counters that move (anonymous, file), or the sum of all of them where that is less.
[[nodiscard]] std::int64_t counter_error_bytes(std::int64_t cpus, std::int64_t page_bytes);

/// Watches the footprint of this process from `start` on. Starting resets the kernel's VmHWM (write 5 to
/// /proc/self/clear_refs), which shortens the window of any other meter of this process; where that is
/// forbidden the mark counts from the start of the process and `source` says so. Not thread-safe. A /proc
/// that cannot be read throws Failure (kEnvironment).
class PeakMeter {
 public:
  [[nodiscard]] static PeakMeter start(FileMappings files = FileMappings::kMayGo);
  /// One read of /proc/self/status (about 20 µs, no stall of other threads); call it at phase marks.
  void observe();
  /// Observes, then the interval since `start`.
  [[nodiscard]] PeakFootprint read();

 private:
  PeakMeter(const ProcStatus& first, bool was_reset, FileMappings files) noexcept
      : window_(first), was_reset_(was_reset), files_(files) {}

  PeakWindow window_;
  bool was_reset_;
  FileMappings files_;
};

}  // namespace weir::ledger
