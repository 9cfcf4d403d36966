#include <mutex>

#include "pool/hard_cap.h"
#include "pool/pool_state.h"
#include "pool/thread_kind.h"

namespace weir::pool {

void* Pool::State::grant_or_throw(std::uint64_t bytes) {
  // Before the lock: walking a stack takes the loader's lock, whose owner may be waiting for ours.
  const ThreadKind kind = this_thread_kind();
  Refusal refused;
  {
    const std::lock_guard guard(lock);
    Block block;
    drop_retained();
    settle();
    Outcome outcome = attempt(bytes, memory_limit, block);
    if (outcome == Outcome::kOverLimit && kind == ThreadKind::kWorker)
      outcome = attempt(bytes, kUnlimited, block);
    if (outcome == Outcome::kGranted) {
      void* const address = hand_out(block, bytes);
      if (counters.overdraw > 0) count_overdraw();
      return address;
    }
    drop_empty_ranges();
    ++counters.refusals;
    settle();
    refused = refusal(bytes, outcome);
  }
  throw OverLimit(refused);
}

void Pool::State::count_overdraw() noexcept {
  ++counters.overdraws;
  publish();
}

Refusal Pool::State::refusal(std::uint64_t bytes, Outcome why) const noexcept {
  Refusal refused;
  refused.requested = bytes;
  refused.live = counters.live;
  refused.retained = counters.retained;
  refused.padding = counters.padding;
  refused.overdraw = counters.overdraw;
  refused.memory_limit = why == Outcome::kOverLimit ? memory_limit : kUnlimited;
  return refused;
}

}  // namespace weir::pool
