#include "govern/mlx_acts.h"

#include <algorithm>

#include "govern/atomic_counters.h"
#include "ledger/heap.h"

namespace weir::govern {
namespace {

Effect refused(const char* text) {
  Effect effect;
  effect.status = wire::ControlStatus::kRefused;
  effect.text = text;
  return effect;
}

/// 0 where /proc does not tell.
std::uint64_t trim_heap() {
  return static_cast<std::uint64_t>(ledger::trim_heap().value_or(0));
}

}  // namespace

MlxActs::MlxActs(const weir_memory_table& real, CountedMlx& counted, MlxHostCalls& calls,
                 const PageSlot& page)
    : real_(real), counted_(counted), calls_(calls), page_(page) {
  counted_.on_errand([this] { run(); });
}

Effect MlxActs::pend(std::uint32_t errands) {
  if (page_.load()->forks.load() != 0)
    return refused(
        "a fork's child has none of MLX's threads, for which MLX's own allocator waits; "
        "--allocator weir waits for none");
  waiting_.fetch_or(errands);
  counted_.leave_errand();
  Effect effect;
  effect.status = wire::ControlStatus::kPending;
  effect.text = "MLX's own allocator: done on the program's own thread at its next allocation";
  return effect;
}

Effect MlxActs::set_limits(const WantedLimits& wanted) {
  if (wanted.memory_limit)
    return refused(
        "MLX's own allocator keeps no hard cap: its memory limit refuses no allocation on this "
        "backend; start the program with --allocator weir or mlx-policy");
  if (!wanted.cache_limit && !wanted.unset_cache_limit) return {};
  limit_unset_.store(wanted.unset_cache_limit);
  limit_.store(wanted.cache_limit.value_or(wire::kNoLimit));
  return pend(kLimit);
}

Effect MlxActs::trim() {
  return pend(kTrim);
}

Effect MlxActs::trim_aged(std::uint64_t /*age_ms*/) {
  return refused("MLX's own allocator knows no ages; trim drops everything");
}

Effect MlxActs::give_back() {
  Effect effect = pend(kTrim | kHeap);
  if (effect.status == wire::ControlStatus::kPending) effect.heap_released = trim_heap();
  return effect;
}

Effect MlxActs::reset_peak() {
  counted_.reset_peaks();
  return {};
}

ledger::AllocatorCounters MlxActs::ledger_counters() {
  ledger::AllocatorCounters held;
  held.live = static_cast<std::int64_t>(real_.get_active_memory());
  held.retained = static_cast<std::int64_t>(real_.get_cache_memory());  // MLX's lock, no stream
  return held;
}

void MlxActs::begin_child() noexcept {
  waiting_ = 0;
  done_ = 0;
}

void MlxActs::run() {
  const std::uint32_t errands = waiting_.exchange(0);
  if (errands == 0) return;
  const std::uint64_t before = real_.get_cache_memory();
  if ((errands & kLimit) != 0)
    calls_.set_weir_cache_limit(limit_unset_.load() ? std::nullopt : std::optional(limit_.load()));
  if ((errands & kTrim) != 0) real_.clear_cache();
  counted_.read_all();
  const std::uint64_t after = real_.get_cache_memory();
  released_.store(before - std::min(before, after));
  done_.fetch_or(errands);
  if (bell_) bell_();
}

void MlxErrands::wake(std::uint64_t /*now_ms*/, const std::vector<pollfd>& /*ready*/) {
  const std::uint32_t done = acts_.done_.exchange(0);
  if (done == 0) return;
  std::uint64_t released = acts_.released_.load();
  const auto note = [&](wire::ActKind kind, std::uint64_t argument, bool heap) {
    log_.perform({kind, wire::ActCause::kControl, argument}, [&](IActs&) {
      Effect effect;
      effect.released = std::exchange(released, 0);
      if (heap) effect.heap_released = trim_heap();
      return effect;
    });
  };
  if ((done & MlxActs::kLimit) != 0) note(wire::ActKind::kSetCacheLimit, acts_.limit_.load(), false);
  const bool heap = (done & MlxActs::kHeap) != 0;
  if ((done & MlxActs::kTrim) != 0) note(heap ? wire::ActKind::kReturn : wire::ActKind::kTrim, 0, heap);
}

}  // namespace weir::govern
