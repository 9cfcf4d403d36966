#include "govern/counted_mlx.h"

#include <algorithm>

#include "govern/atomic_counters.h"

namespace weir::govern {

using mlx::core::allocator::Allocator;
using mlx::core::allocator::Buffer;

namespace {

constexpr std::uint64_t kReadEveryBytes = 1ULL << 20;
constexpr std::uint64_t kReadEveryEvents = 64;
/// MLX adds to its limit; half the range is beyond any machine and cannot overflow.
constexpr std::uint64_t kUnbound = ~std::uint64_t{0} / 2;

std::optional<std::uint64_t> bound_for_mlx(const wire::AgentSettings& settings) noexcept {
  const auto bound = weir_cache_bound(settings);
  return bound ? std::optional(std::min(*bound, kUnbound)) : std::nullopt;
}

}  // namespace

CountedMlx::CountedMlx(const weir_memory_table& real, const PageSlot& page) noexcept
    : real_(real), mlx_(*static_cast<Allocator*>(real.allocator())), page_(page) {}

Buffer CountedMlx::malloc(std::size_t size) {
  const Buffer buffer = mlx_.malloc(size);
  count(page_.load(std::memory_order_relaxed)->allocations);
  note(size);
  return buffer;
}

void CountedMlx::free(Buffer buffer) {
  const std::uint64_t bytes = mlx_.size(buffer);
  mlx_.free(buffer);
  count(page_.load(std::memory_order_relaxed)->frees);
  note(bytes);
}

std::size_t CountedMlx::size(Buffer buffer) const {
  return mlx_.size(buffer);
}

Buffer CountedMlx::make_buffer(void* pointer, std::size_t size) {
  return mlx_.make_buffer(pointer, size);
}

void CountedMlx::release(Buffer buffer) {
  mlx_.release(buffer);
}

void CountedMlx::note(std::uint64_t bytes) noexcept {
  // An event counts for a 64th of the bytes at least, so that one sum knows both bounds.
  const std::uint64_t weight = std::max(bytes, kReadEveryBytes / kReadEveryEvents);
  if (unread_bytes_.fetch_add(weight, std::memory_order_relaxed) + weight >= kReadEveryBytes)
    return read_all();
  wire::CountersPage& page = *page_.load(std::memory_order_relaxed);
  const std::uint64_t live = real_.get_active_memory();
  page.live.store(live, std::memory_order_relaxed);
  raise(page.live_peak, live);
}

void CountedMlx::read_all() noexcept {
  unread_bytes_.store(0, std::memory_order_relaxed);
  wire::CountersPage& page = *page_.load(std::memory_order_relaxed);
  const std::uint64_t live = real_.get_active_memory();
  const std::uint64_t retained = real_.get_cache_memory();
  page.live.store(live, std::memory_order_relaxed);
  page.retained.store(retained, std::memory_order_relaxed);
  raise(page.live_peak, live);
  raise(page.retained_peak, retained);
}

void CountedMlx::begin_child(std::uint64_t retained) noexcept {
  wire::CountersPage& page = *page_.load(std::memory_order_relaxed);
  const std::uint64_t live = real_.get_active_memory();
  page.live.store(live, std::memory_order_relaxed);
  page.live_peak.store(live, std::memory_order_relaxed);
  page.retained.store(retained, std::memory_order_relaxed);
  page.retained_peak.store(retained, std::memory_order_relaxed);
}

MlxHostCalls::MlxHostCalls(const weir_memory_table& real, CountedMlx& counted,
                           const wire::AgentSettings& settings, const PageSlot& page)
    : real_(real),
      counted_(counted),
      page_(page),
      weir_cache_(bound_for_mlx(settings)),
      enforce_(settings.enforce),
      host_cache_(0) {
  // MLX has no getter: setting answers the previous value.
  const std::uint64_t library = real_.set_cache_limit(weir_cache_.value_or(kUnbound));
  if (!weir_cache_) real_.set_cache_limit(library);
  host_cache_ = weir_cache_.value_or(library);
  page_.load()->cache_limit.store(host_cache_, std::memory_order_relaxed);
}

std::size_t MlxHostCalls::set_cache_limit(std::size_t bytes) {
  count(page_.load()->host_limits);
  const std::uint64_t previous = host_cache_.exchange(bytes);
  const std::uint64_t bound = *bound_in_force(weir_cache_, bytes, enforce_);
  real_.set_cache_limit(bound);
  page_.load()->cache_limit.store(bound, std::memory_order_relaxed);
  counted_.read_all();
  return previous;
}

std::size_t MlxHostCalls::set_memory_limit(std::size_t bytes) {
  count(page_.load()->host_limits);
  return real_.set_memory_limit(bytes);
}

void MlxHostCalls::clear_cache() {
  count(page_.load()->host_clears);
  real_.clear_cache();
  counted_.read_all();
}

}  // namespace weir::govern
