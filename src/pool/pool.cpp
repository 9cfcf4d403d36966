#include "pool/pool.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>

#include "base/check.h"
#include "pool/pool_state.h"

namespace weir::pool {

Result<std::unique_ptr<Pool>> Pool::open(const Options& options) {
  try {
    const SpaceOptions space = space_options_here(options.reserve_bytes, options.huge_pages, options.move);
    return std::unique_ptr<Pool>(new Pool(std::make_unique<State>(options, space)));
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kNoRoom, "pool", "no memory for the pool's own books");
  }
}

Pool::Pool(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Pool::~Pool() = default;

void* Pool::allocate(std::uint64_t bytes) {
  {
    State& state = *state_;
    const std::lock_guard guard(state.lock);
    State::Block block;
    if (state.attempt(bytes, state.memory_limit, block) == State::Outcome::kGranted)
      return state.hand_out(block, bytes);
  }
  return state_->grant_or_throw(bytes);
}

void Pool::free(void* block) noexcept {
  if (block == nullptr) return;
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  const std::optional<place::Offset> offset = state.space.offset_of(block);
  if (offset && state.space.unmark(*offset)) {
    state.take_back(*offset);
  } else {
    ++state.own_troubles;
    state.settle();
  }
}

std::uint64_t Pool::capacity(const void* block) const noexcept {
  if (block == nullptr) return 0;
  const State& state = *state_;
  const std::lock_guard guard(state.lock);
  const std::optional<place::Offset> offset = state.space.offset_of(block);
  if (!offset || !state.space.is_marked(*offset)) return 0;
  return state.placement.size_of(*offset).value_or(0);
}

std::uint64_t Pool::trim() {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  const std::uint64_t before = state.counters.backed;
  state.drop_retained();
  state.settle();
  return before - state.counters.backed;
}

std::uint64_t Pool::trim_aged(std::uint64_t age_ms) {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  const std::uint64_t before = state.counters.backed;
  const place::Tick now = state.read_time();
  if (now >= age_ms) {
    state.placement.shrink_older(now - age_ms, state.actions);
    static_cast<void>(state.apply_actions());
  }
  state.settle();
  return before - state.counters.backed;
}

std::optional<std::uint64_t> Pool::set_cache_limit(std::optional<std::uint64_t> bytes) {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  const auto previous = std::exchange(state.cache_limit, bytes);
  state.apply_cache_limit();
  state.settle();
  return previous;
}

std::uint64_t Pool::set_memory_limit(std::uint64_t bytes) {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  const std::uint64_t previous = std::exchange(state.memory_limit, bytes);
  state.settle();
  return previous;
}

Policy Pool::set_policy(Policy policy) {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  if (policy == state.policy) return policy;
  state.drop_kept();
  const Policy previous = std::exchange(state.policy, policy);
  state.weir = place::WeirRule();  // demand seen before says nothing about now
  state.apply_cache_limit();
  state.settle();
  return previous;
}

Policy Pool::policy() const noexcept {
  const std::lock_guard guard(state_->lock);
  return state_->policy;
}

std::uint64_t Pool::cache_limit() const noexcept {
  const std::lock_guard guard(state_->lock);
  return state_->cache_limit_in_force();
}

std::uint64_t Pool::memory_limit() const noexcept {
  const std::lock_guard guard(state_->lock);
  return state_->memory_limit;
}

Counters Pool::counters() const {
  const std::lock_guard guard(state_->lock);
  return state_->counters;
}

void Pool::reset_peaks() {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  state.counters.live_peak = state.counters.retained_peak = 0;
  state.counters.backed_peak = state.counters.overdraw_peak = 0;
  state.settle();
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> Pool::books() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> books;
  const std::lock_guard guard(state_->lock);
  for (const Range& range : state_->space.ranges()) {
    const auto start = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(range.books));
    books.emplace_back(start, start + AddressSpace::size_of_books(range));
  }
  std::sort(books.begin(), books.end());
  return books;
}

void Pool::count_trouble() noexcept {
  const std::lock_guard guard(state_->lock);
  ++state_->own_troubles;
  state_->settle();
}

void Pool::publish(wire::CountersPage* page) noexcept {
  State& state = *state_;
  const std::lock_guard guard(state.lock);
  state.page = page;
  state.update_page([&] { state.size_classes.move_to(page == nullptr ? nullptr : page->size_classes); });
  state.publish();
}

void Pool::check_laws() const {
  const State& state = *state_;
  const std::lock_guard guard(state.lock);
  state.placement.check_laws();
  const place::Totals totals = state.placement.totals();
  const Counters& now = state.counters;
  WEIR_CHECK_EQ(now.live + now.retained + now.padding, now.backed);
  WEIR_CHECK_EQ(now.backed, totals.backed);
  WEIR_CHECK_EQ(now.backed, state.space.backed_granules() * place::kGranuleBytes);
  WEIR_CHECK_EQ(state.kept_bytes, state.mlx.kept_bytes());
  WEIR_CHECK_EQ(now.kept, state.kept_bytes);
  WEIR_CHECK_EQ(now.live + state.kept_bytes, totals.granted);
  WEIR_CHECK_EQ(now.retained, totals.retained + state.kept_bytes);
  WEIR_CHECK_EQ(now.padding, totals.padding);
  WEIR_CHECK_EQ(now.allocations - now.frees, state.space.count_marks());
  WEIR_CHECK_EQ(now.hits + now.misses, now.allocations);
  WEIR_CHECK_LE(now.retained, state.cache_limit_in_force());
  if (state.memory_limit != kUnlimited) WEIR_CHECK_LE(now.backed, state.memory_limit + now.overdraw);
  WEIR_CHECK_LE(state.space.ranges().size(), std::size_t{1} << 20);
  state.size_classes.check_laws(now.allocations - state.published_from.allocations,
                                now.hits - state.published_from.hits, now.kept);
}

}  // namespace weir::pool
