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

}  // namespace

/// What MLX's rule keeps goes first, because settling may drop the same block again; the grant is counted
/// with the page's own counts.
void Pool::State::settle_changed(const place::Totals& totals, ClassChange change) noexcept {
  update_page([&] { size_classes.count_kept(change); });
  settling = change;
  settle(totals);
  settling = {};
}

void Pool::State::publish() noexcept {
  const std::uint64_t allocations = counters.allocations - published_from.allocations;
  if (page == nullptr) return size_classes.count(settling, allocations);
  const wire::PageUpdate update(*page);
  store_block_counts(*page, counters, published_from);
  size_classes.count(settling, allocations);
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
  size_classes.begin_child();
  published_from = counters;
  counters.live_peak = counters.live;
  counters.retained_peak = counters.retained;
  counters.backed_peak = counters.backed;
  counters.overdraw_peak = counters.overdraw;
}

}  // namespace weir::pool
