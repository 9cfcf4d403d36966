#include "govern/counted_mlx.h"

#include <algorithm>

#include "govern/atomic_counters.h"
#include "pool/thread_kind.h"

namespace weir::govern {

using mlx::core::allocator::Allocator;
using mlx::core::allocator::Buffer;

namespace {

constexpr std::uint64_t kReadEveryBytes = 1ULL << 20;
constexpr std::uint64_t kReadEveryEvents = 64;
/// MLX adds to its limit; half the range is beyond any machine and cannot overflow.
constexpr std::uint64_t kUnbound = ~std::uint64_t{0} / 2;

/// As an atomic keeps it: kNoLimit for nullopt.
std::uint64_t bound_for_mlx(std::optional<std::uint64_t> bound) noexcept {
  return bound ? std::min(*bound, kUnbound) : wire::kNoLimit;
}

std::optional<std::uint64_t> kept_bound(std::uint64_t bound) noexcept {
  return bound == wire::kNoLimit ? std::nullopt : std::optional(bound);
}

/// MLX does not tell hits nor what it keeps of a size, so a class has neither.
void count_allocation(wire::CountersPage& page, std::uint64_t bytes) noexcept {
  wire::SizeClass& counts = page.size_classes[wire::size_class(bytes)];
  count(counts.allocations);
  counts.last_allocation.store(page.allocations.fetch_add(1, std::memory_order_relaxed) + 1,
                               std::memory_order_relaxed);
}

}  // namespace

CountedMlx::CountedMlx(const weir_memory_table& real, const PageSlot& page) noexcept
    : real_(real), mlx_(*static_cast<Allocator*>(real.allocator())), page_(page) {}

Buffer CountedMlx::malloc(std::size_t size) {
  if (has_errand_.load(std::memory_order_relaxed)) run_errand();
  const Buffer buffer = mlx_.malloc(size);
  count_allocation(*page_.load(std::memory_order_relaxed), size);
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

void CountedMlx::reset_peaks() noexcept {
  wire::CountersPage& page = *page_.load(std::memory_order_relaxed);
  page.live_peak.store(page.live.load(std::memory_order_relaxed), std::memory_order_relaxed);
  page.retained_peak.store(page.retained.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

void CountedMlx::run_errand() {
  if (pool::this_thread_kind() != pool::ThreadKind::kCaller) return;
  if (has_errand_.exchange(false, std::memory_order_acquire)) errand_();
}

MlxHostCalls::MlxHostCalls(const weir_memory_table& real, CountedMlx& counted,
                           const wire::AgentSettings& settings, const PageSlot& page)
    : real_(real),
      counted_(counted),
      page_(page),
      weir_cache_(bound_for_mlx(weir_cache_bound(settings))),
      host_cache_(0),
      enforce_(settings.enforce) {
  // MLX has no getter: setting answers the previous value.
  const auto weir = kept_bound(weir_cache_);
  library_cache_ = real_.set_cache_limit(weir.value_or(kUnbound));
  if (!weir) real_.set_cache_limit(library_cache_);
  host_cache_ = weir.value_or(library_cache_);
  page_.load()->cache_limit.store(host_cache_, std::memory_order_relaxed);
}

void MlxHostCalls::apply() {
  const std::uint64_t bound =
      bound_in_force(kept_bound(weir_cache_), kept_bound(asked_cache_), enforce_).value_or(library_cache_);
  real_.set_cache_limit(bound);
  page_.load()->cache_limit.store(bound, std::memory_order_relaxed);
  counted_.read_all();
}

void MlxHostCalls::set_weir_cache_limit(std::optional<std::uint64_t> bytes) {
  weir_cache_ = bound_for_mlx(bytes);
  apply();
}

std::size_t MlxHostCalls::set_cache_limit(std::size_t bytes) {
  count(page_.load()->host_limits);
  const std::uint64_t previous = host_cache_.exchange(bytes);
  asked_cache_ = bound_for_mlx(bytes);
  apply();
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
