#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weir::wire {

/// What weir did to the process, and why.
enum class ActKind : std::uint32_t {
  kSetCacheLimit = 1,
  kSetMemoryLimit,
  kTrim,
  kTrimAged,
  kReturn,
  kResetPeak,
  kAdaptMemoryLimit,
};
enum class ActCause : std::uint32_t {
  kControl = 1,
  kRequestEnd,
  kPhase,
  kIdle,
  kPressure,
  kNeighbour,
  kWindow
};

/// One act with its effect. The footprint falls by at most `released`: others allocate meanwhile.
struct Act {
  std::atomic<std::uint64_t> time_ns;  ///< CLOCK_REALTIME when it was done.
  std::atomic<std::uint32_t> kind;     ///< ActKind.
  std::atomic<std::uint32_t> cause;    ///< ActCause.
  std::atomic<std::uint64_t>
      argument;  ///< Of a limit: bytes, kNoLimit for none. Of an aged trim: the age in ms.
  std::atomic<std::uint64_t> released;  ///< Bytes given back to the kernel or the driver.
  std::atomic<std::uint64_t> footprint_before, footprint_after;
  std::atomic<std::uint64_t> retained_before, retained_after;
};
static_assert(sizeof(Act) == 64);
inline constexpr std::size_t kActs = 32;

}  // namespace weir::wire
