#pragma once

#include <atomic>
#include <cstdint>

namespace weir::govern {

/// One more; counters order nothing.
inline void count(std::atomic<std::uint64_t>& counter) noexcept {
  counter.fetch_add(1, std::memory_order_relaxed);
}

/// Makes `peak` at least `value`.
inline void raise(std::atomic<std::uint64_t>& peak, std::uint64_t value) noexcept {
  std::uint64_t known = peak.load(std::memory_order_relaxed);
  while (value > known && !peak.compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

}  // namespace weir::govern
