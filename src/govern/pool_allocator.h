#pragma once

#include <mlx/allocator.h>

#include <atomic>
#include <cstdint>

#include "govern/pool_limits.h"

namespace weir::govern {

/// MLX's allocator over a pool: a buffer's ptr() is its data (raw_offset 0), its size() the block's capacity.
/// Thread-safe. `malloc` throws pool::OverLimit where the pool does; nothing else throws.
class PoolAllocator final : public mlx::core::allocator::Allocator {
 public:
  /// The pool publishes to the page in `page`. Both must outlive this.
  PoolAllocator(pool::Pool& pool, const PageSlot& page) noexcept : pool_(pool), page_(page) {}

  mlx::core::allocator::Buffer malloc(std::size_t size) override;
  void free(mlx::core::allocator::Buffer buffer) override;
  [[nodiscard]] std::size_t size(mlx::core::allocator::Buffer buffer) const override;

  /// Bytes in use, from the page: no lock.
  [[nodiscard]] std::uint64_t live() const noexcept;
  /// The largest `live` at an allocation since the last reset, as MLX counts it for its host: a reset makes
  /// it 0, and the peaks in the page go on. Threads that allocate at the same moment may miss one another.
  [[nodiscard]] std::uint64_t host_peak() const noexcept { return peak_.load(std::memory_order_relaxed); }
  void reset_host_peak() noexcept { peak_.store(0, std::memory_order_relaxed); }
  /// The largest request since the last call that the kernel, not the hard cap, refused; 0: none.
  [[nodiscard]] std::uint64_t take_lacking() noexcept { return lacking_.exchange(0); }

 private:
  pool::Pool& pool_;
  const PageSlot& page_;
  std::atomic<std::uint64_t> peak_{0}, lacking_{0};
};

}  // namespace weir::govern
