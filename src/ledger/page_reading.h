#pragma once

#include <sys/types.h>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ledger/layers.h"
#include "wire/counters_page.h"

namespace weir::ledger {

/// What became of the requests of one size class (wire::size_class).
struct SizeClassReading {
  std::uint64_t allocations = 0, hits = 0;
  std::int64_t retained = 0;          ///< Bytes that MLX's rule keeps of it; 0 under `weir` and `mlx`.
  std::uint64_t last_allocation = 0;  ///< The page's `allocations` at its latest one.
};

/// One act of weir with its effect.
struct ActReading {
  std::uint64_t time_ns = 0;  ///< CLOCK_REALTIME.
  wire::ActKind kind = wire::ActKind::kTrim;
  wire::ActCause cause = wire::ActCause::kControl;
  std::uint64_t argument = 0;  ///< As wire::Act says.
  std::int64_t released = 0;
  std::int64_t footprint_before = 0, footprint_after = 0;
  std::int64_t retained_before = 0, retained_after = 0;
};

/// What the process itself counted when it was last asked to.
struct SampleReading {
  std::uint64_t ns = 0;  ///< CLOCK_REALTIME.
  Bytes heap_idle, identified, untouched, unexplained;
};

/// Memory of one accelerator, as its driver told the process.
struct DeviceReading {
  std::string name;  ///< As UTF-8 without control characters.
  std::int64_t total = 0, free = 0, pool_reserved = 0, pool_used = 0;
};

/// A page copied at one moment: all counters from one update, all acts from one.
struct PageReading {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0, run = 0, started_ns = 0;
  wire::PageState state = wire::PageState::kStarting;
  wire::Allocator allocator = wire::Allocator::kMlx;
  std::string library, command;  ///< As UTF-8 without control characters; "?" stands for any other byte.
  std::uint64_t cache_limit = wire::kNoLimit, memory_limit = wire::kNoLimit;
  std::int64_t live = 0, retained = 0, padding = 0, backed = 0, overdraw = 0;
  std::int64_t live_peak = 0, retained_peak = 0, backed_peak = 0, overdraw_peak = 0;
  std::uint64_t allocations = 0, frees = 0, hits = 0, misses = 0, refusals = 0, overdraws = 0;
  std::uint64_t host_clears = 0, host_limits = 0, returned = 0, moved = 0, troubles = 0, forks = 0;
  std::uint64_t pool_start = 0, pool_end = 0;
  std::uint64_t pid_namespace = 0;
  wire::Backend backend = wire::Backend::kCpu;
  wire::Phase phase = wire::Phase::kUnmarked;
  std::uint64_t tokens = 0, requests = 0;  ///< Of a program that marks them.
  std::array<SizeClassReading, wire::kSizeClasses> size_classes{};
  std::uint64_t acts_done = 0;
  std::vector<ActReading> acts;  ///< The latest kActs of them, oldest first.
  std::optional<SampleReading> sample;
  std::vector<DeviceReading> devices;
  bool alive = false;  ///< A process with this pid and start time exists, and is no zombie.
  bool torn = false;   ///< No copy came from one update: each value is right, their sums may not be.

  /// Who this is, also after the kernel has given the pid to another process.
  [[nodiscard]] bool same_process(const PageReading& other) const noexcept {
    return pid == other.pid && start_ticks == other.start_ticks && run == other.run;
  }
};

/// The values in the bytes of a page, whatever its sequences say; `alive` and `torn` stay false. kBadData:
/// another length than a page, another magic or version, unknown states, impossible sizes. Every size is
/// below 2^58, so that sums of a few cannot overflow. Pure.
[[nodiscard]] Result<PageReading> parse_page(std::string_view bytes, const std::string& where);
/// Why the head of `bytes`, a whole page, is not one that this version can read; null where it is.
[[nodiscard]] const char* trouble_of_head(std::string_view bytes);

}  // namespace weir::ledger
