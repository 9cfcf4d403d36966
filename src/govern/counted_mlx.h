#pragma once

#include <mlx/allocator.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>

#include "govern/pool_limits.h"
#include "wire/memory_table.h"

namespace weir::govern {

/// The allocator `mlx`: MLX's own, with its events counted in the page. Live bytes are read at each event
/// (MLX keeps them without a lock); retained bytes cost MLX's lock and are read once 1 MiB or 64 events have
/// passed, so they and their peak are right to that much. `hits` and `misses` stay 0, also of
/// the size classes, whose `retained` does too: MLX does not tell. Each
/// counter is whole by itself, the page's sequence is not taken. Thread-safe; throws nothing but what an
/// errand of the caller's thread does.
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
  /// In the page: the peaks begin at what is held now. From any thread.
  void reset_peaks() noexcept;

  /// What only one of MLX's callers (pool/thread_kind.h) may do, set before the first allocation.
  void on_errand(std::function<void()> errand) { errand_ = std::move(errand); }
  /// From any thread: it runs on a caller at its next allocation, once, before that. What MLX throws there is
  /// an error of a worker, which that caller would have met a little later.
  void leave_errand() noexcept { has_errand_.store(true, std::memory_order_release); }

 private:
  void note(std::uint64_t bytes) noexcept;
  void run_errand();

  const weir_memory_table& real_;
  mlx::core::allocator::Allocator& mlx_;
  const PageSlot& page_;
  std::atomic<std::uint64_t> unread_bytes_{0};
  std::function<void()> errand_;
  std::atomic<bool> has_errand_{false};
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
  /// weir's bound from now on, in place of the one it started with; nullopt: none. As the host's own calls.
  void set_weir_cache_limit(std::optional<std::uint64_t> bytes);

 private:
  /// Sets the bound of weir and the host together; MLX's own default where neither asks.
  void apply();

  const weir_memory_table& real_;
  CountedMlx& counted_;
  const PageSlot& page_;
  // nullopt is kNoLimit, which no bound is: MLX's are at most half the range.
  std::atomic<std::uint64_t> weir_cache_;
  std::atomic<std::uint64_t> asked_cache_{wire::kNoLimit};  // by the host
  std::atomic<std::uint64_t> host_cache_;                   // what the host believes to be set
  std::uint64_t library_cache_ = 0;
  bool enforce_;
};

}  // namespace weir::govern
