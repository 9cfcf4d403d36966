#pragma once

#include <cstdint>

namespace weir::govern {

/// MLX's memory functions, one to one, behind a seam so that the Governor's rules are tested without MLX.
/// Every call may synchronize MLX's CPU streams (set_cache_limit and clear_cache always do) and takes over an
/// error that a worker left behind, so only the engine's thread may call, between steps.
class IMlxMemory {
 public:
  virtual ~IMlxMemory() = default;
  /// Bytes; returns the previous limit, as MLX does.
  virtual std::uint64_t set_cache_limit(std::uint64_t bytes) = 0;
  virtual void clear_cache() = 0;
  virtual void reset_peak() = 0;
  [[nodiscard]] virtual std::uint64_t active_bytes() = 0;
  [[nodiscard]] virtual std::uint64_t cache_bytes() = 0;
  [[nodiscard]] virtual std::uint64_t peak_bytes() = 0;
};

/// The real functions of the linked library. Stateless.
[[nodiscard]] IMlxMemory& mlx_memory();

}  // namespace weir::govern
