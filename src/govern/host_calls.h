#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "govern/pool_allocator.h"
#include "govern/pool_limits.h"

namespace weir::govern {

/// The host's own calls of MLX's memory functions, over the pool. Counted in the page as events; what they
/// ask for is the program's bound beside weir's. Answers are as MLX gives them: setters return what the host
/// set before, so that a host which puts a value back gets the state back. Thread-safe; nothing is thrown.
class HostCalls {
 public:
  /// Free granules that younger than this stay when the host clears under HostClear::kAge.
  static constexpr std::uint64_t kClearedAgeMs = 5'000;

  /// `memory_default`: MLX's own memory limit. All must outlive this.
  HostCalls(PoolLimits& limits, PoolAllocator& allocator, const PageSlot& page, wire::HostClear clear,
            std::uint64_t memory_default) noexcept;

  [[nodiscard]] std::size_t active_memory() const noexcept { return allocator_.live(); }
  [[nodiscard]] std::size_t peak_memory() const noexcept { return allocator_.host_peak(); }
  void reset_peak_memory() noexcept { allocator_.reset_host_peak(); }
  /// Under `mlx-policy` what MLX's rule keeps, as MLX would say; else all that is retained.
  [[nodiscard]] std::size_t cache_memory() const noexcept;
  /// A bound while it is the smaller one; corrected back at once under `enforce`.
  std::size_t set_cache_limit(std::size_t bytes) noexcept;
  /// Kept and answered; it refuses nothing, as in MLX. Refusing is the hard cap's business.
  std::size_t set_memory_limit(std::size_t bytes) noexcept;
  /// Where MLX's evaluation starts to wait: what the host set, or a sixteenth below the hard cap.
  [[nodiscard]] std::size_t memory_limit() const noexcept;
  /// Under `mlx-policy` or HostClear::kHonour everything retained goes; else what has aged.
  void clear_cache() noexcept;

 private:
  PoolLimits& limits_;
  PoolAllocator& allocator_;
  const PageSlot& page_;
  wire::HostClear clear_;
  std::atomic<std::uint64_t> host_cache_;   // what the host believes to be set
  std::atomic<std::uint64_t> host_memory_;  // the same
};

}  // namespace weir::govern
