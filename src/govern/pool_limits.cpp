#include "govern/pool_limits.h"

#include <algorithm>

namespace weir::govern {

std::optional<std::uint64_t> bound_in_force(std::optional<std::uint64_t> weir,
                                            std::optional<std::uint64_t> program, bool enforce) noexcept {
  if (!weir) return program;
  if (!program || enforce) return weir;
  return std::min(*weir, *program);
}

std::optional<std::uint64_t> weir_cache_bound(const wire::AgentSettings& settings) noexcept {
  if (settings.cache_unset) return std::nullopt;
  return settings.cache_limit;
}

PoolLimits::PoolLimits(pool::Pool& pool, const wire::AgentSettings& settings, const PageSlot& page) noexcept
    : pool_(pool),
      page_(page),
      weir_cache_(weir_cache_bound(settings)),
      weir_memory_(settings.memory_limit == wire::kNoLimit ? std::nullopt
                                                           : std::optional(settings.memory_limit)),
      enforce_(settings.enforce),
      memory_limit_(settings.memory_limit) {}

void PoolLimits::apply_cache_limit() {
  pool_.set_cache_limit(bound_in_force(weir_cache_, program_cache_, enforce_));
}

void PoolLimits::apply_memory_limit() {
  // Also under `enforce`: a program that asks for a tighter cap of its own gets it.
  const std::uint64_t bytes = bound_in_force(weir_memory_, program_memory_, false).value_or(wire::kNoLimit);
  pool_.set_memory_limit(bytes);
  memory_limit_.store(bytes, std::memory_order_relaxed);
}

void PoolLimits::set_program_cache_limit(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  program_cache_ = bytes;
  apply_cache_limit();
}

void PoolLimits::set_program_memory_limit(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  program_memory_ = bytes;
  apply_memory_limit();
}

void PoolLimits::set_weir_cache_limit(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  weir_cache_ = bytes;
  apply_cache_limit();
}

void PoolLimits::set_weir_memory_limit(std::optional<std::uint64_t> bytes) {
  const std::lock_guard lock(mutex_);
  weir_memory_ = bytes;
  apply_memory_limit();
}

void PoolLimits::set_policy(pool::Policy policy) {
  const std::lock_guard lock(mutex_);
  pool_.set_policy(policy);
  apply_cache_limit();  // without a bound, the new policy's default
  page_.load()->allocator.store(static_cast<std::uint32_t>(allocator_of(policy)), std::memory_order_relaxed);
}

void PoolLimits::release() {
  const std::lock_guard lock(mutex_);
  weir_cache_.reset();
  weir_memory_.reset();
  apply_cache_limit();
  apply_memory_limit();
}

wire::Allocator allocator_of(pool::Policy policy) noexcept {
  return policy == pool::Policy::kMlx ? wire::Allocator::kMlxPolicy : wire::Allocator::kWeir;
}

pool::Policy policy_of(wire::Allocator allocator) noexcept {
  return allocator == wire::Allocator::kMlxPolicy ? pool::Policy::kMlx : pool::Policy::kWeir;
}

}  // namespace weir::govern
