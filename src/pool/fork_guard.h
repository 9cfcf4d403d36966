#pragma once

#include "pool/pool_lock.h"
#include "wire/counters_page.h"

namespace weir::pool {

/// What a fork must find at rest. While one lives, fork() waits for its lock, so that the child's copy is
/// whole; the child gets a new lock and publishes nowhere until it is told to: its parent's page is not its
/// own. Handlers registered with pthread_atfork after the first ForkGuard come later in the child, so they
/// may use the pool.
class ForkGuard {
 public:
  ForkGuard(PoolLock& lock, wire::CountersPage*& page) noexcept;
  ForkGuard(const ForkGuard&) = delete;
  ForkGuard& operator=(const ForkGuard&) = delete;
  ~ForkGuard();

 private:
  friend struct ForkGuards;
  PoolLock& lock_;
  wire::CountersPage*& page_;
  ForkGuard* previous_ = nullptr;
  ForkGuard* next_ = nullptr;
};

}  // namespace weir::pool
