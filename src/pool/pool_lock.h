#pragma once

#include <atomic>

namespace weir::pool {

/// A lock for work of tens of nanoseconds: one atomic exchange to take it, one plain store to leave it. A
/// waiter spins for about two microseconds; then the owner is off the processor or in the kernel, and the
/// waiter sleeps for tens of microseconds at a time. Nobody is woken, so nothing is left behind by a fork: a
/// child makes it new.
class PoolLock {
 public:
  PoolLock() = default;
  PoolLock(const PoolLock&) = delete;
  PoolLock& operator=(const PoolLock&) = delete;

  void lock() noexcept {
    if (taken_.exchange(true, std::memory_order_acquire)) wait();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }
  /// In a fork's child, where no other thread exists: free, whoever held it or waited for it.
  void renew() noexcept { unlock(); }

 private:
  /// Returns with the lock taken.
  void wait() noexcept;

  alignas(64) std::atomic<bool> taken_{false};
};

}  // namespace weir::pool
