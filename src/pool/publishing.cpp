#include "pool/pool_state.h"

namespace weir::pool {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// What an event of a block seldom changes.
void store_rest(wire::CountersPage& page, const Counters& now) noexcept {
  page.backed.store(now.backed, kRelaxed);
  page.overdraw.store(now.overdraw, kRelaxed);
  page.live_peak.store(now.live_peak, kRelaxed);
  page.retained_peak.store(now.retained_peak, kRelaxed);
  page.backed_peak.store(now.backed_peak, kRelaxed);
  page.overdraw_peak.store(now.overdraw_peak, kRelaxed);
  page.misses.store(now.misses, kRelaxed);
  page.refusals.store(now.refusals, kRelaxed);
  page.overdraws.store(now.overdraws, kRelaxed);
  page.returned.store(now.returned, kRelaxed);
  page.moved.store(now.moved, kRelaxed);
  page.troubles.store(now.troubles, kRelaxed);
}

void store_brief(wire::CountersPage& page, const Counters& now) noexcept {
  page.live.store(now.live, kRelaxed);
  page.retained.store(now.retained, kRelaxed);
  page.padding.store(now.padding, kRelaxed);
  page.allocations.store(now.allocations, kRelaxed);
  page.frees.store(now.frees, kRelaxed);
  page.hits.store(now.hits, kRelaxed);
}

}  // namespace

void Pool::State::publish_brief() const noexcept {
  if (page == nullptr) return;
  const wire::PageUpdate update(*page);
  store_brief(*page, counters);
}

void Pool::State::publish() const noexcept {
  if (page == nullptr) return;
  const wire::PageUpdate update(*page);
  store_brief(*page, counters);
  store_rest(*page, counters);
  page->cache_limit.store(cache_limit_in_force(), kRelaxed);
  page->memory_limit.store(memory_limit, kRelaxed);
  if (!reserved) return;
  const Range& reservation = space.ranges().front();
  page->pool_start.store(reinterpret_cast<std::uintptr_t>(reservation.start), kRelaxed);
  page->pool_end.store(reinterpret_cast<std::uintptr_t>(reservation.start + reservation.bytes()), kRelaxed);
}

}  // namespace weir::pool
