#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/act.h"
#include "wire/size_class.h"

namespace weir::wire {

inline constexpr std::uint64_t kPageMagic = 0x3147'5052'4945'57ULL;  // "WEIRPG1"
inline constexpr std::uint32_t kPageVersion = 2;
inline constexpr std::size_t kPageBytes = 8192;
inline constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};

/// Which allocator answers MLX in the process.
enum class Allocator : std::uint32_t { kMlx = 0, kMlxPolicy = 1, kWeir = 2 };

/// What the process is doing with its page.
enum class PageState : std::uint32_t { kStarting = 0, kGoverned = 1, kOff = 2, kExited = 3 };

/// Which hardware answers MLX in the process.
enum class Backend : std::uint32_t { kCpu = 0, kCuda = 1, kMetal = 2, kNone = 3 };

/// What a program that marks its phases is doing; weir's own runner does.
enum class Phase : std::uint32_t { kUnmarked = 0, kLoad, kVision, kPrefill, kDecode, kIdle, kUnload };

/// Memory of one accelerator as its driver tells.
struct DeviceRow {
  std::atomic<std::uint64_t> total, free;               ///< Of the whole device.
  std::atomic<std::uint64_t> pool_reserved, pool_used;  ///< Of this process's default pool.
  char name[32];
};
static_assert(sizeof(DeviceRow) == 64);
inline constexpr std::size_t kDevices = 16;

/// What one process lets others see: one 8,192-byte file, mapped shared, written by that process alone.
///
///   0     magic, version, state      what this is
///   16    who                        process, run, allocator, library
///   448   counters                   under `sequence`: odd while a writer is inside
///   768   size classes               likewise
///   4096  acts, sample, devices      under `acts_sequence`
///
/// Two writers, a section each. Counters: who holds the allocator's own lock. Acts: who holds the governor's.
/// Each makes its sequence odd, stores relaxed, and makes it even. A reader copies and retries while the
/// sequence is odd or has moved. Nobody waits for a reader. The marks (phase, tokens, requests) stand by
/// themselves and move no sequence. All values are bytes or counts; host byte order.
struct CountersPage {
  std::atomic<std::uint64_t> magic;  ///< Stored last, when everything else is in place.
  std::atomic<std::uint32_t> version;
  std::atomic<std::uint32_t> state;  ///< PageState.

  std::atomic<std::uint32_t> pid;
  std::atomic<std::uint32_t> allocator;    ///< Allocator.
  std::atomic<std::uint64_t> start_ticks;  ///< Field 22 of /proc/PID/stat: with pid, who this is.
  std::atomic<std::uint64_t> run;          ///< Which `weir run` started it; 0: none.
  std::atomic<std::uint64_t> started_ns;   ///< CLOCK_REALTIME when the page was made.
  char library[256];                       ///< Path of libmlx, cut at 255 bytes; written before magic.
  char command[128];                       ///< Base name of the program, cut.

  alignas(64) std::atomic<std::uint64_t> sequence;
  std::atomic<std::uint64_t> cache_limit;   ///< In force; kNoLimit: unlimited.
  std::atomic<std::uint64_t> memory_limit;  ///< In force; kNoLimit: unlimited.
  std::atomic<std::uint64_t> live;
  std::atomic<std::uint64_t> retained;
  std::atomic<std::uint64_t> padding;
  std::atomic<std::uint64_t> backed;    ///< live + retained + padding; 0 for the allocator `mlx`.
  std::atomic<std::uint64_t> overdraw;  ///< Granted above the memory limit and not repaid.
  std::atomic<std::uint64_t> live_peak;
  std::atomic<std::uint64_t> retained_peak;
  std::atomic<std::uint64_t> backed_peak;
  std::atomic<std::uint64_t> overdraw_peak;
  std::atomic<std::uint64_t> allocations;
  std::atomic<std::uint64_t> frees;
  std::atomic<std::uint64_t> hits;  ///< Allocations that needed no memory from the system.
  std::atomic<std::uint64_t> misses;
  std::atomic<std::uint64_t> refusals;     ///< Allocations that the hard cap refused.
  std::atomic<std::uint64_t> overdraws;    ///< Grants above the memory limit.
  std::atomic<std::uint64_t> host_clears;  ///< Calls of clear_cache by the host.
  std::atomic<std::uint64_t> host_limits;  ///< Calls of set_cache_limit, set_memory_limit by the host.
  std::atomic<std::uint64_t> returned;     ///< Bytes given back to the kernel so far.
  std::atomic<std::uint64_t> moved;        ///< Bytes moved between addresses so far.
  std::atomic<std::uint64_t> troubles;     ///< Times that weir could not do what it should.
  std::atomic<std::uint64_t> forks;        ///< 1 in a child made by fork.
  std::atomic<std::uint64_t>
      pool_start;  ///< Address range that the pool reserved; 0: none, or not its only one.
  std::atomic<std::uint64_t> pool_end;
  std::atomic<std::uint64_t>
      pid_namespace;                    ///< Inode of the namespace that pid and run belong to; 0: unknown.
  std::atomic<std::uint32_t> backend;   ///< Backend.
  std::atomic<std::uint32_t> phase;     ///< Phase.
  std::atomic<std::uint64_t> tokens;    ///< Drawn by a program that marks them.
  std::atomic<std::uint64_t> requests;  ///< Ended, of a program that marks them.
  alignas(256) SizeClass size_classes[kSizeClasses];

  alignas(4096) std::atomic<std::uint64_t> acts_sequence;
  std::atomic<std::uint64_t> acts_done;   ///< So far; act i is in slot i % kActs.
  std::atomic<std::uint64_t> sampled_ns;  ///< CLOCK_REALTIME of the latest sample; 0: never.
  std::atomic<std::int64_t> sampled_heap_idle, sampled_identified, sampled_untouched, sampled_unexplained;
  std::atomic<std::uint64_t> devices;  ///< Rows in use.
  alignas(256) Act acts[kActs];
  DeviceRow device_rows[kDevices];
};
static_assert(offsetof(CountersPage, size_classes) == 768);
static_assert(offsetof(CountersPage, acts_sequence) == 4096);
static_assert(sizeof(CountersPage) <= kPageBytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

/// Holds one section for one update; the caller holds the lock of its writer.
class PageUpdate {
 public:
  /// The counters, under the allocator's lock.
  explicit PageUpdate(CountersPage& page) noexcept : PageUpdate(page.sequence) {}
  /// The section of this sequence, under its writer's lock.
  explicit PageUpdate(std::atomic<std::uint64_t>& sequence) noexcept : sequence_(sequence) {
    sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
  }
  PageUpdate(const PageUpdate&) = delete;
  PageUpdate& operator=(const PageUpdate&) = delete;
  ~PageUpdate() { sequence_.store(sequence_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  std::atomic<std::uint64_t>& sequence_;
};

}  // namespace weir::wire
