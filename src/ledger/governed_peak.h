#pragma once

#include <sys/types.h>
#include <cstdint>
#include <vector>

#include "ledger/layers.h"
#include "ledger/peak.h"
#include "ledger/proc_status.h"

namespace weir::ledger {

/// One living process at one moment.
struct GovernedSample {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< With pid, who it is.
  Layers layers;                  ///< Computed from `status`.
  ProcStatus status;
};

/// The sums of both parts, layer by layer, tag by tag and part by part; known where either is known. Both
/// sums of layers.h hold again. Pure.
[[nodiscard]] Layers add_layers(const Layers& left, const Layers& right);

/// The layers of the moment that tells most of a peak: among the samples whose footprint comes within a
/// sixty-fourth of the largest seen, the one with the most live bytes. A process that ends holds its peak in
/// freed memory, and that moment explains nothing.
class LayersAtPeak {
 public:
  void offer(const Layers& layers);
  [[nodiscard]] const Layers& layers() const noexcept { return layers_; }
  [[nodiscard]] std::int64_t largest_footprint() const noexcept { return largest_; }

 private:
  Layers layers_;
  std::int64_t largest_ = -1;
};

/// How high one process went.
struct ProcessPeak {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;
  Layers at_peak;                     ///< Of LayersAtPeak.
  std::int64_t high_water_bytes = 0;  ///< The kernel's VmHWM: file pages too, and what no sample saw.
  PeakFootprint footprint;            ///< The interval (peak.h, mark never reset, files may go).
};

/// What `weir run` keeps of all its samples. Pure; not thread-safe.
class GovernedPeak {
 public:
  /// `counter_error`: see peak.h; how far the kernel's counters may be off for one process.
  explicit GovernedPeak(std::int64_t counter_error) noexcept : counter_error_(counter_error) {}

  /// All processes that live at one moment.
  void add(const std::vector<GovernedSample>& together);

  /// By first appearance.
  [[nodiscard]] std::vector<ProcessPeak> processes() const;
  /// The sum over the processes at the moment of LayersAtPeak; empty before any sample.
  [[nodiscard]] const Layers& together() const noexcept { return together_.layers(); }
  /// low: the largest sum seen, less the error. high: the largest sum, over two moments in a row, of the high
  /// ends that all processes seen at either had by then; what a process does after its last sample is not in
  /// it. `source` says which.
  [[nodiscard]] PeakFootprint footprint() const;

 private:
  struct Seen {
    pid_t pid;
    std::uint64_t start_ticks;
    LayersAtPeak at_peak;
    PeakWindow window;
    std::int64_t high_water;
  };
  /// Its place in `seen_`.
  std::size_t add_one(const GovernedSample& sample);
  [[nodiscard]] PeakFootprint bound(const Seen& one) const;

  std::int64_t counter_error_;
  std::vector<Seen> seen_;
  std::vector<std::size_t> last_;  ///< Places of those that lived at the latest moment; rising.
  LayersAtPeak together_;
  std::size_t together_count_ = 0;
  std::int64_t high_ = 0;
};

}  // namespace weir::ledger
