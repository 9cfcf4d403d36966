#include "pool/pool_state.h"

namespace weir::pool {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// What an event of a block seldom changes.
void store_rest(wire::CountersPage& page, const Counters& now, const Counters& from) noexcept {
  page.backed.store(now.backed, kRelaxed);
  page.overdraw.store(now.overdraw, kRelaxed);
  page.live_peak.store(now.live_peak, kRelaxed);
  page.retained_peak.store(now.retained_peak, kRelaxed);
  page.backed_peak.store(now.backed_peak, kRelaxed);
  page.overdraw_peak.store(now.overdraw_peak, kRelaxed);
  page.misses.store(now.misses - from.misses, kRelaxed);
  page.refusals.store(now.refusals - from.refusals, kRelaxed);
  page.overdraws.store(now.overdraws - from.overdraws, kRelaxed);
  page.returned.store(now.returned - from.returned, kRelaxed);
  page.moved.store(now.moved - from.moved, kRelaxed);
  page.troubles.store(now.troubles - from.troubles, kRelaxed);
}

void store_brief(wire::CountersPage& page, const Counters& now, const Counters& from) noexcept {
  page.live.store(now.live, kRelaxed);
  page.retained.store(now.retained, kRelaxed);
  page.padding.store(now.padding, kRelaxed);
  page.allocations.store(now.allocations - from.allocations, kRelaxed);
  page.frees.store(now.frees - from.frees, kRelaxed);
  page.hits.store(now.hits - from.hits, kRelaxed);
}

}  // namespace

void Pool::State::publish_brief() const noexcept {
  if (page == nullptr) return;
  const wire::PageUpdate update(*page);
  store_brief(*page, counters, published_from);
}

void Pool::State::publish() const noexcept {
  if (page == nullptr) return;
  const wire::PageUpdate update(*page);
  store_brief(*page, counters, published_from);
  store_rest(*page, counters, published_from);
  page->cache_limit.store(cache_limit_in_force(), kRelaxed);
  page->memory_limit.store(memory_limit, kRelaxed);
  // A reader that gets no range, because it would be a part of them, goes by the mappings' names.
  const bool whole = reserved && space.ranges().size() == 1;
  const auto start = whole ? reinterpret_cast<std::uintptr_t>(space.ranges().front().start) : 0;
  page->pool_start.store(start, kRelaxed);
  page->pool_end.store(whole ? start + space.ranges().front().bytes() : 0, kRelaxed);
}

void Pool::State::begin_child() noexcept {
  page = nullptr;
  published_from = counters;
  counters.live_peak = counters.live;
  counters.retained_peak = counters.retained;
  counters.backed_peak = counters.backed;
  counters.overdraw_peak = counters.overdraw;
}

}  // namespace weir::pool
