#pragma once

#include <mlx/allocator.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "govern/pool_limits.h"
#include "wire/memory_table.h"

namespace weir::govern {

/// The allocator `mlx`: MLX's own, with its events counted in the page. Live bytes are read at each event
/// (MLX keeps them without a lock); retained bytes cost MLX's lock and are read once 1 MiB or 64 events have
/// passed, so they and their peak are right to that much. `hits` and `misses` stay 0: MLX does not tell. Each
/// counter is whole by itself, the page's sequence is not taken. Thread-safe; throws nothing.
class CountedMlx final : public mlx::core::allocator::Allocator {
 public:
  /// Both must outlive this.
  CountedMlx(const weir_memory_table& real, const PageSlot& page) noexcept;

  mlx::core::allocator::Buffer malloc(std::size_t size) override;
  void free(mlx::core::allocator::Buffer buffer) override;
  [[nodiscard]] std::size_t size(mlx::core::allocator::Buffer buffer) const override;
  mlx::core::allocator::Buffer make_buffer(void* pointer, std::size_t size) override;
  void release(mlx::core::allocator::Buffer buffer) override;

  /// Reads MLX's counters into the page now.
  void read_all() noexcept;
  /// In a fork's child, for its new page: what was inherited, with the peaks there. `retained` as last known:
  /// MLX's lock may be held by a thread of the parent.
  void begin_child(std::uint64_t retained) noexcept;

 private:
  void note(std::uint64_t bytes) noexcept;

  const weir_memory_table& real_;
  mlx::core::allocator::Allocator& mlx_;
  const PageSlot& page_;
  std::atomic<std::uint64_t> unread_bytes_{0};
};

/// The host's own calls over MLX's allocator: counted, then MLX's, with the cache limit bound by weir's. As
/// MLX's functions they may wait for its streams and belong to the host's thread.
class MlxHostCalls {
 public:
  /// Sets weir's cache limit. All must outlive this.
  MlxHostCalls(const weir_memory_table& real, CountedMlx& counted, const wire::AgentSettings& settings,
               const PageSlot& page);

  std::size_t set_cache_limit(std::size_t bytes);
  std::size_t set_memory_limit(std::size_t bytes);
  void clear_cache();

 private:
  const weir_memory_table& real_;
  CountedMlx& counted_;
  const PageSlot& page_;
  std::optional<std::uint64_t> weir_cache_;
  bool enforce_;
  std::atomic<std::uint64_t> host_cache_;
};

}  // namespace weir::govern
