#pragma once

#include "pool/pool_lock.h"

namespace weir::pool {

/// What a fork must find at rest. While one lives, fork() waits for its lock, so that the child's copy is
/// whole; the child gets a new lock, and `in_child(owner)` is called there. Handlers registered with
/// pthread_atfork after the first ForkGuard come later in the child, so they may use the pool.
class ForkGuard {
 public:
  using InChild = void (*)(void* owner) noexcept;

  ForkGuard(PoolLock& lock, InChild in_child, void* owner) noexcept;
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
  ~ForkGuard();

 private:
  friend struct ForkGuards;
  PoolLock& lock_;
  InChild in_child_;
  void* owner_;
  ForkGuard* previous_ = nullptr;
  ForkGuard* next_ = nullptr;
};

}  // namespace weir::pool
