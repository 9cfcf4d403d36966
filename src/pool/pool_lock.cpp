#include "pool/pool_lock.h"

#include <time.h>

namespace weir::pool {
namespace {

constexpr int kSpins = 64;
constexpr long kSleepNanoseconds = 20'000;

void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void PoolLock::wait() noexcept {
  for (;;) {
    for (int spin = 0; spin < kSpins; ++spin) {
      pause_processor();
      if (!taken_.load(std::memory_order_relaxed) && !taken_.exchange(true, std::memory_order_acquire))
        return;
    }
    const timespec sleep{0, kSleepNanoseconds};
    ::nanosleep(&sleep, nullptr);
  }
}

}  // namespace weir::pool
