#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

#include "pool/pool.h"
#include "wire/agent_settings.h"

namespace weir::govern {

/// The counters page that this process writes now; another one after a fork. Never null once it is set.
using PageSlot = std::atomic<wire::CountersPage*>;

/// The bound of weir and the program together, nullopt where nobody asks for one: the smaller, or weir's
/// alone under `enforce`. Pure.
[[nodiscard]] std::optional<std::uint64_t> bound_in_force(std::optional<std::uint64_t> weir,
                                                          std::optional<std::uint64_t> program,
                                                          bool enforce) noexcept;

/// What weir itself asks for; kNoLimit is unlimited, nullopt asks for nothing.
[[nodiscard]] std::optional<std::uint64_t> weir_cache_bound(const wire::AgentSettings& settings) noexcept;

/// The bounds of a pool by who asks for them: weir (its settings) and the program (the host's own calls of
/// MLX's functions, or weir's runner). Thread-safe; its lock comes before the pool's. What throws is
/// std::bad_alloc of the pool.
class PoolLimits {
 public:
  /// The pool was opened with these settings. Both must outlive this.
  PoolLimits(pool::Pool& pool, const wire::AgentSettings& settings, const PageSlot& page) noexcept;

  /// nullopt: the program asks for no bound of its own.
  void set_program_cache_limit(std::optional<std::uint64_t> bytes);
  void set_program_memory_limit(std::optional<std::uint64_t> bytes);
  /// weir's own, in place of those that it started with.
  void set_weir_cache_limit(std::optional<std::uint64_t> bytes);
  void set_weir_memory_limit(std::optional<std::uint64_t> bytes);
  /// `mlx-policy` or `weir`, in place.
  void set_policy(pool::Policy policy);
  /// Takes weir's own bounds away: a process that is governed no more.
  void release();

  [[nodiscard]] pool::Pool& pool() const noexcept { return pool_; }
  /// In force; kNoLimit: unlimited. Takes no lock.
  [[nodiscard]] std::uint64_t memory_limit() const noexcept {
    return memory_limit_.load(std::memory_order_relaxed);
  }

  /// Around a fork, so that a child finds the lock free.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

 private:
  void apply_cache_limit();
  void apply_memory_limit();

  pool::Pool& pool_;
  const PageSlot& page_;
  std::mutex mutex_;
  std::optional<std::uint64_t> weir_cache_, program_cache_;
  std::optional<std::uint64_t> weir_memory_, program_memory_;
  bool enforce_;
  std::atomic<std::uint64_t> memory_limit_;
};

/// The allocator's name in settings and pages.
[[nodiscard]] wire::Allocator allocator_of(pool::Policy policy) noexcept;
[[nodiscard]] pool::Policy policy_of(wire::Allocator allocator) noexcept;

}  // namespace weir::govern
