#pragma once

#include <cstdint>

#include "pool/pool.h"
#include "wire/counters_page.h"

namespace weir::pool {

/// What an event of a block always changes on the page; `from`: what the counts were where the page's begin.
/// Inside an update of the page.
inline void store_block_counts(wire::CountersPage& page, const Counters& now, const Counters& from) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  page.live.store(now.live, kRelaxed);
  page.retained.store(now.retained, kRelaxed);
  page.padding.store(now.padding, kRelaxed);
  page.allocations.store(now.allocations - from.allocations, kRelaxed);
  page.frees.store(now.frees - from.frees, kRelaxed);
  page.hits.store(now.hits - from.hits, kRelaxed);
}

}  // namespace weir::pool
