#include "pool/pool_state.h"

#include <algorithm>

namespace weir::pool {

using place::Action;
using place::Placed;

Pool::State::State(const Options& options, const SpaceOptions& space_options)
    : policy(options.policy),
      cache_limit(options.cache_limit),
      memory_limit(options.memory_limit),
      space(space_options),
      reserved(!space.ranges().empty()),
      placement(place::Options{space.moves(), 0}) {
  for (const Range& range : space.ranges())
    know_range(range);
  apply_cache_limit();
}

void Pool::State::know_range(const Range& range) {
  std::size_t granules = 0;
  for (const Range& each : space.ranges())
    granules += each.count;
  actions.reserve(granules);
  placement.add_range(range.first, range.count);
}

bool Pool::State::add_range(std::uint64_t bytes) {
  const Range* const range = space.add_range(bytes);
  if (range == nullptr) return false;
  try {
    know_range(*range);
  } catch (...) {
    space.remove_range(range->first);
    throw;
  }
  return true;
}

/// The reservation stays.
void Pool::State::drop_empty_ranges() noexcept {
  const auto& ranges = space.ranges();
  for (std::size_t i = ranges.size(); i-- > (reserved ? 1 : 0);)
    if (ranges[i].backed == 0 && placement.remove_range(ranges[i].first)) space.remove_range(ranges[i].first);
}

bool Pool::State::apply_actions() noexcept {
  bool usable = true;
  for (const Action& action : actions) {
    switch (action.kind) {
      case Action::Kind::kBack:
        usable = usable && space.back(action.granule, action.count);
        break;
      case Action::Kind::kMove:
        if (usable) {
          usable = space.move(action.from, action.granule, action.count);
        } else {
          space.give_back(action.from, action.count);
        }
        break;
      case Action::Kind::kReturn:
        space.give_back(action.granule, action.count);
        break;
    }
  }
  actions.clear();
  return usable;
}

Pool::State::Outcome Pool::State::attempt(std::uint64_t bytes, std::uint64_t most_backed,
                                          Block& block) noexcept {
  if (counters.backed > most_backed) return Outcome::kOverLimit;  // an overdraw is repaid first
  try {
    if (policy == Policy::kMlx) {
      if (const auto kept = mlx.reuse(bytes)) {
        --kept_blocks;
        kept_bytes -= kept->capacity;
        block = {kept->offset, kept->capacity, true, true};
        return Outcome::kGranted;
      }
    }
    return place_block(bytes, most_backed, block);
  } catch (const std::bad_alloc&) {
    return Outcome::kNoMemory;
  }
}

Pool::State::Outcome Pool::State::place_block(std::uint64_t bytes, std::uint64_t most_backed, Block& block) {
  if (bytes > most_backed) return Outcome::kOverLimit;
  place::Grant grant = placement.grant(bytes, now(), most_backed, actions);
  if (grant.placed == Placed::kNoAddress) {
    if (!add_range(bytes)) return Outcome::kNoMemory;
    grant = placement.grant(bytes, time, most_backed, actions);
  }
  if (grant.placed != Placed::kGranted)
    return grant.placed == Placed::kOverBound ? Outcome::kOverLimit : Outcome::kNoMemory;
  if (!actions.empty() && !apply_actions()) [[unlikely]] {
    // What the kernel refused counts as backed: only once it is free and returned do the books agree again.
    placement.free(grant.offset, time);
    shrink(0);
    return Outcome::kNoMemory;
  }
  block = {grant.offset, bytes, grant.new_granules == 0, false};
  return Outcome::kGranted;
}

void* Pool::State::hand_out(const Block& block, std::uint64_t bytes) noexcept {
  space.mark(block.offset);
  counters.live += block.capacity;
  ++counters.allocations;
  ++(block.hit ? counters.hits : counters.misses);
  settle_block(
      {.granted = true, .hit = block.hit, .bytes = bytes, .reused = block.reused ? block.capacity : 0});
  return space.address_of(block.offset);
}

void Pool::State::take_back(place::Offset offset) noexcept {
  try {
    std::uint64_t capacity = 0;
    bool kept = false;
    if (policy == Policy::kMlx) {
      capacity = placement.size_of(offset).value_or(0);
      kept = keep({offset, capacity});
    }
    if (!kept) capacity = placement.free(offset, now());
    counters.live -= capacity;
    ++counters.frees;
    settle_block({.kept = kept ? capacity : 0});
  } catch (const std::bad_alloc&) {
    space.mark(offset);  // no memory for the books of a free: the block stays, as a leak that is counted
    ++own_troubles;
    settle();
  }
}

}  // namespace weir::pool
