#include <algorithm>
#include <new>

#include "pool/pool_state.h"

namespace weir::pool {

std::uint64_t Pool::State::cache_limit_in_force() const noexcept {
  return cache_limit.value_or(policy == Policy::kMlx ? place::MlxRule::kDefaultLimit : kUnlimited);
}

bool Pool::State::keep(const place::KeptBlock& block) noexcept {
  try {
    // Room for all that is kept, so that dropping it never needs some.
    if (dropped.capacity() <= kept_blocks) dropped.reserve(2 * kept_blocks + 64);
    if (!mlx.keep(block)) return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
  ++kept_blocks;
  kept_bytes += block.capacity;
  return true;
}

void Pool::State::apply_cache_limit() noexcept {
  const std::uint64_t limit = cache_limit_in_force();
  weir.set_limit(limit);
  mlx.set_limit(limit, dropped);
  end_dropped();
}

void Pool::State::drop_kept() noexcept {
  mlx.clear(dropped);
  end_dropped();
}

void Pool::State::end_dropped() noexcept {
  for (const place::KeptBlock& block : dropped) {
    placement.free(block.offset, now());
    kept_bytes -= block.capacity;
    update_page([&] { size_classes.end_keeping(block.capacity); });
  }
  kept_blocks -= dropped.size();
  dropped.clear();
}

void Pool::State::shrink(std::uint64_t most_retained) noexcept {
  placement.shrink(most_retained, actions);
  if (actions.empty()) return;
  static_cast<void>(apply_actions());
  if (space.ranges().size() > 1 || !reserved) drop_empty_ranges();
}

void Pool::State::drop_retained() noexcept {
  drop_kept();
  shrink(0);
}

std::uint64_t Pool::State::most_retained(const place::Totals& totals) noexcept {
  if (policy == Policy::kMlx) {
    const std::uint64_t limit = cache_limit_in_force();
    return limit == kUnlimited ? kUnlimited : limit - std::min(limit, kept_bytes);
  }
  const std::uint64_t use = totals.backed - totals.retained;
  weir.observe(use, time);
  return weir.most_retained(use);
}

void Pool::State::settle(place::Totals totals) noexcept {
  std::uint64_t most = most_retained(totals);
  if (totals.backed > memory_limit) {
    if (totals.backed - totals.retained > memory_limit) {
      drop_kept();
      totals = placement.totals();
    }
    const std::uint64_t over = totals.backed > memory_limit ? totals.backed - memory_limit : 0;
    most = std::min(most, totals.retained - std::min(totals.retained, over));
  }
  if (totals.retained > most) {
    shrink(most);
    totals = placement.totals();
  }
  settled_granules = totals.retained;
  most_retained_brief = policy == Policy::kMlx ? cache_limit_in_force() : kUnlimited;
  count(totals);
  publish();
}

void Pool::State::count(const place::Totals& totals) noexcept {
  counters.kept = kept_bytes;
  counters.retained = totals.retained + counters.kept;
  counters.padding = totals.padding;
  counters.backed = totals.backed;
  counters.overdraw = totals.backed > memory_limit ? totals.backed - memory_limit : 0;
  counters.live_peak = std::max(counters.live_peak, counters.live);
  counters.retained_peak = std::max(counters.retained_peak, counters.retained);
  counters.backed_peak = std::max(counters.backed_peak, counters.backed);
  counters.overdraw_peak = std::max(counters.overdraw_peak, counters.overdraw);
  counters.returned = space.returned_bytes();
  counters.moved = space.moved_bytes();
  counters.troubles = space.troubles() + own_troubles;
}

}  // namespace weir::pool
