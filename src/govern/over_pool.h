#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "govern/host_calls.h"
#include "govern/pool_allocator.h"
#include "govern/pool_limits.h"
#include "ledger/own_layers.h"

namespace weir::govern {

/// A pool with all that stands between it and a host: bounds, MLX's allocator, MLX's memory functions.
struct OverPool {
  /// Opens the pool as the settings say and publishes it to the page in the slot. `memory_default`: MLX's own
  /// memory limit. `page` must outlive this.
  [[nodiscard]] static Result<std::unique_ptr<OverPool>> open(const wire::AgentSettings& settings,
                                                              const PageSlot& page,
                                                              std::uint64_t memory_default);
  OverPool(std::unique_ptr<pool::Pool> opened, const wire::AgentSettings& settings, const PageSlot& own_page,
           std::uint64_t memory_default) noexcept;

  /// What the ledger needs; the range of addresses comes from the page.
  [[nodiscard]] ledger::AllocatorCounters ledger_counters() const;

  const PageSlot& page;
  std::unique_ptr<pool::Pool> pool;
  PoolLimits limits;
  PoolAllocator allocator;
  HostCalls calls;
  /// What MLX's own allocator holds beside the pool, active and cached; empty: not known.
  std::function<std::int64_t()> beside;
};

}  // namespace weir::govern
