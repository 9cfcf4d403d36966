#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ledger/own_layers.h"
#include "wire/control.h"

namespace weir::govern {

/// What one act came to.
struct Effect {
  wire::ControlStatus status = wire::ControlStatus::kDone;
  std::uint64_t released = 0;         ///< By the pool, or MLX's cache, to the kernel.
  std::uint64_t heap_released = 0;    ///< By the C heap.
  std::uint64_t driver_released = 0;  ///< By the driver's pools.
  std::uint64_t driver_kept = 0;      ///< What they keep all the same.
  std::string text;                   ///< Words for a person; "" where the numbers say it all.
};

/// Limits as a verb asks for them; nullopt: not asked for. kNoLimit: unlimited.
struct WantedLimits {
  std::optional<std::uint64_t> cache_limit;
  bool unset_cache_limit = false;  ///< Back to the allocator's own default.
  std::optional<std::uint64_t> memory_limit;
};

/// What can be done to this process from a thread that is none of MLX's callers. One variant for each way of
/// governing: over the pool (pool_acts), over MLX's own allocator (mlx_acts). The caller holds the governor's
/// lock: one act at a time. Nothing is thrown.
class IActs {
 public:
  virtual ~IActs() = default;
  /// weir's own bounds from now on, in place of those it started with. kPending where only MLX's caller may
  /// set them; kRefused where the allocator cannot keep them.
  virtual Effect set_limits(const WantedLimits& wanted) = 0;
  /// Drops what is retained.
  virtual Effect trim() = 0;
  /// Drops what has been free for longer than this.
  virtual Effect trim_aged(std::uint64_t age_ms) = 0;
  /// trim, then hands memory of the C heap and the driver back.
  virtual Effect give_back() = 0;
  virtual Effect reset_peak() = 0;
  /// For the ledger: what the allocator holds now.
  [[nodiscard]] virtual ledger::AllocatorCounters ledger_counters() = 0;
};

}  // namespace weir::govern
