#include "govern/host_calls.h"

#include <algorithm>
#include <limits>
#include <new>

#include "govern/atomic_counters.h"

namespace weir::govern {

namespace {

/// What a host reads where nothing is bound: it may keep sizes in signed integers.
constexpr std::uint64_t kMostTold = std::numeric_limits<std::int64_t>::max();

}  // namespace

HostCalls::HostCalls(PoolLimits& limits, PoolAllocator& allocator, const PageSlot& page,
                     wire::HostClear clear, std::uint64_t memory_default) noexcept
    : limits_(limits),
      allocator_(allocator),
      page_(page),
      clear_(clear),
      host_cache_(std::min(limits.pool().cache_limit(), kMostTold)),
      host_memory_(memory_default) {}

std::size_t HostCalls::cache_memory() const noexcept {
  const pool::Pool& pool = limits_.pool();
  return pool.policy() == pool::Policy::kMlx ? pool.counters().kept : pool.counters().retained;
}

std::size_t HostCalls::set_cache_limit(std::size_t bytes) noexcept {
  count(page_.load()->host_limits);
  const std::uint64_t previous = host_cache_.exchange(bytes);
  try {
    limits_.set_program_cache_limit(bytes >= kMostTold ? wire::kNoLimit : bytes);
  } catch (const std::bad_alloc&) {  // what could not go now goes at a later event
  }
  return previous;
}

std::size_t HostCalls::set_memory_limit(std::size_t bytes) noexcept {
  count(page_.load()->host_limits);
  return host_memory_.exchange(bytes);
}

std::size_t HostCalls::memory_limit() const noexcept {
  const std::uint64_t host = host_memory_.load(std::memory_order_relaxed);
  const std::uint64_t cap = limits_.memory_limit();
  return cap == wire::kNoLimit ? host : std::min(host, cap - cap / 16);
}

void HostCalls::clear_cache() noexcept {
  count(page_.load()->host_clears);
  try {
    const bool all = clear_ == wire::HostClear::kHonour || limits_.pool().policy() == pool::Policy::kMlx;
    if (all) {
      limits_.pool().trim();
    } else {
      limits_.pool().trim_aged(kClearedAgeMs);
    }
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace weir::govern
