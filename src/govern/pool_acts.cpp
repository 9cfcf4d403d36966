#include "govern/pool_acts.h"

#include <new>

#include "ledger/heap.h"

namespace weir::govern {
namespace {

Effect answered(wire::ControlStatus status, std::string text) {
  Effect effect;
  effect.status = status;
  effect.text = std::move(text);
  return effect;
}

/// The pool's own books may need memory when it changes.
template <class Act>
Effect done(Act&& act) {
  try {
    Effect effect;
    effect.released = act();
    return effect;
  } catch (const std::bad_alloc&) {
    return answered(wire::ControlStatus::kFailed, "no memory for the pool's own books");
  }
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes > INT64_MAX ? "unlimited" : std::to_string(bytes) + " bytes";
}

}  // namespace

std::string PoolActs::words_on_limits(const WantedLimits& wanted) const {
  const std::uint64_t cache = over_.pool->cache_limit(), memory = over_.pool->memory_limit();
  if (wanted.cache_limit && cache < *wanted.cache_limit)
    return "the program's own cache limit is tighter and stays in force: " + bytes_text(cache);
  if (wanted.memory_limit && memory < *wanted.memory_limit)
    return "the program's own memory limit is tighter and stays in force: " + bytes_text(memory);
  if (const pool::Counters now = over_.pool->counters(); wanted.memory_limit && now.overdraw > 0)
    return "what is in use is above it by " + bytes_text(now.overdraw) +
           ", which no allocation gets until it is freed";
  return "";
}

Effect PoolActs::set_limits(const WantedLimits& wanted) {
  if (wanted.memory_limit == 0)
    return answered(wire::ControlStatus::kRefused,
                    "a memory limit of 0 would forbid every allocation; for retained bytes it is the cache "
                    "limit");
  Effect effect = done([&] {
    const std::uint64_t before = over_.pool->counters().returned;
    if (wanted.memory_limit)
      over_.limits.set_weir_memory_limit(*wanted.memory_limit == wire::kNoLimit ? std::nullopt
                                                                                : wanted.memory_limit);
    if (wanted.cache_limit || wanted.unset_cache_limit)
      over_.limits.set_weir_cache_limit(wanted.unset_cache_limit ? std::nullopt : wanted.cache_limit);
    return over_.pool->counters().returned - before;
  });
  if (effect.status == wire::ControlStatus::kDone) effect.text = words_on_limits(wanted);
  return effect;
}

Effect PoolActs::trim() {
  return done([this] { return over_.pool->trim(); });
}

Effect PoolActs::trim_aged(std::uint64_t age_ms) {
  return done([this, age_ms] { return over_.pool->trim_aged(age_ms); });
}

Effect PoolActs::give_back() {
  Effect effect = trim();
  const Result<std::int64_t> heap = ledger::trim_heap();
  if (heap) {
    effect.heap_released = static_cast<std::uint64_t>(*heap);
  } else {
    effect.status = wire::ControlStatus::kFailed;
    effect.text =
        "the pool gave back " + bytes_text(effect.released) + ", the heap nothing: " + describe(heap.error());
  }
  return effect;
}

Effect PoolActs::reset_peak() {
  return done([this] {
    over_.pool->reset_peaks();
    return 0;
  });
}

}  // namespace weir::govern
