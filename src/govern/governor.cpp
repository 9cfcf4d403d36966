#include "govern/governor.h"

#include <algorithm>
#include <limits>

#include "base/byte_text.h"
#include "base/check.h"
#include "govern/over_pool.h"
#include "govern/process_governor.h"
#include "ledger/heap.h"
#include "wire/agent_settings.h"

namespace weir::govern {

namespace {

/// MLX keeps limits as size_t and adds to them; half the range is beyond any machine and cannot overflow.
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max() / 2;

std::optional<std::int64_t> known(std::uint64_t bytes) {
  if (bytes >= kUnlimited) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

/// What a setting asks an allocator for: a number, kUnlimited, or nullopt for the allocator's default. What
/// `auto` came to is in effective_bytes (a limit, the library's default, or none), or a default in words.
std::optional<std::uint64_t> wanted(const limits::Setting& setting) {
  if (!setting.unset_text.empty()) return std::nullopt;
  switch (setting.mode) {
    case limits::Mode::kUnset:
      return std::nullopt;
    case limits::Mode::kUnlimited:
      return kUnlimited;
    case limits::Mode::kBytes:
      WEIR_CHECK(setting.bytes.has_value());
      return static_cast<std::uint64_t>(*setting.bytes);
    case limits::Mode::kAuto:
      return setting.effective_bytes ? static_cast<std::uint64_t>(*setting.effective_bytes) : kUnlimited;
  }
  return std::nullopt;
}

}  // namespace

Governor::Governor(IMlxMemory& memory) : memory_(&memory), owner_(std::this_thread::get_id()) {
  in_force_ = library_default_ = read_back();
}

Governor::Governor(OverPool& pool) : pool_(&pool), owner_(std::this_thread::get_id()) {
  in_force_ = read_back();
}

std::unique_ptr<Governor> Governor::of_process() {
  if (OverPool* const pool = process_over_pool()) return std::make_unique<Governor>(*pool);
  return std::make_unique<Governor>(mlx_memory());
}

void Governor::check_thread() const {
  WEIR_CHECK_EQ(std::this_thread::get_id(), owner_);
}

/// MLX has no getter for the cache limit: setting returns the previous value, so set and put back.
std::uint64_t Governor::read_back() {
  if (pool_ != nullptr) return pool_->pool->cache_limit();
  const std::uint64_t value = memory_->set_cache_limit(kUnlimited);
  memory_->set_cache_limit(value);
  return value;
}

/// Returns what was in force.
std::uint64_t Governor::set_cache_limit(std::optional<std::uint64_t> bytes) {
  if (pool_ != nullptr) {
    const std::uint64_t previous = pool_->pool->cache_limit();
    pool_->limits.set_program_cache_limit(bytes == kUnlimited ? wire::kNoLimit : bytes);
    return previous;
  }
  const std::uint64_t target = bytes.value_or(library_default_);
  const std::uint64_t previous = memory_->set_cache_limit(target);
  if (memory_->cache_bytes() > target) memory_->clear_cache();
  return previous;
}

std::uint64_t Governor::retained() {
  return pool_ != nullptr ? pool_->pool->counters().retained : memory_->cache_bytes();
}

std::optional<std::int64_t> Governor::cache_limit_bytes() const noexcept {
  return known(in_force_);
}

LimitChange Governor::set_cache_limit(const limits::Setting& setting) {
  check_thread();
  LimitChange change;
  const auto before = static_cast<std::int64_t>(retained());
  change.previous_bytes = known(set_cache_limit(wanted(setting)));
  in_force_ = read_back();
  change.in_force_bytes = known(in_force_);
  change.trimmed_bytes = std::max<std::int64_t>(0, before - static_cast<std::int64_t>(retained()));
  return change;
}

Result<LimitChange> Governor::set_memory_limit(const limits::Setting& setting) {
  check_thread();
  limits::Resolved limits;
  limits.memory_limit = setting;
  if (auto kept = require_enforceable(limits, allocator()); !kept) return tl::unexpected(kept.error());
  LimitChange change;
  if (pool_ == nullptr) return change;
  const auto before = static_cast<std::int64_t>(retained());
  change.previous_bytes = known(pool_->pool->memory_limit());
  const auto bytes = wanted(setting);
  pool_->limits.set_program_memory_limit(bytes == kUnlimited ? std::nullopt : bytes);
  change.in_force_bytes = known(pool_->pool->memory_limit());
  change.trimmed_bytes = std::max<std::int64_t>(0, before - static_cast<std::int64_t>(retained()));
  return change;
}

Result<void> Governor::set_allocator(wire::Allocator wanted_allocator) {
  check_thread();
  if (wanted_allocator == allocator()) return {};
  if (pool_ == nullptr || wanted_allocator == wire::Allocator::kMlx) {
    return fail(ErrorKind::kUsage, "--allocator",
                std::string("cannot change from ") + wire::allocator_name(allocator()) + " to " +
                    wire::allocator_name(wanted_allocator) +
                    " while the process lives: MLX's buffers and the pool's are not the same; start another");
  }
  pool_->limits.set_policy(policy_of(wanted_allocator));
  in_force_ = read_back();
  return {};
}

wire::Allocator Governor::allocator() const noexcept {
  return pool_ == nullptr ? wire::Allocator::kMlx : allocator_of(pool_->pool->policy());
}

std::int64_t Governor::trim() {
  check_thread();
  const auto before = static_cast<std::int64_t>(retained());
  if (pool_ != nullptr) {
    (void)pool_->pool->trim();
  } else {
    memory_->clear_cache();
  }
  return before - static_cast<std::int64_t>(retained());
}

std::int64_t Governor::trim_and_return() {
  const std::int64_t dropped = trim();
  (void)ledger::trim_heap();
  return dropped;
}

Counters Governor::sample() {
  check_thread();
  Counters counters;
  if (pool_ != nullptr) {
    const pool::Counters held = pool_->pool->counters();
    counters.live_bytes = static_cast<std::int64_t>(held.live);
    counters.retained_bytes = static_cast<std::int64_t>(held.retained);
    counters.live_peak_bytes = static_cast<std::int64_t>(pool_->allocator.host_peak());
  } else {
    counters.live_bytes = static_cast<std::int64_t>(memory_->active_bytes());
    counters.retained_bytes = static_cast<std::int64_t>(memory_->cache_bytes());
    counters.live_peak_bytes = static_cast<std::int64_t>(memory_->peak_bytes());
  }
  retained_peak_bytes_ = std::max(retained_peak_bytes_, counters.retained_bytes);
  counters.retained_peak_bytes = retained_peak_bytes_;
  return counters;
}

ledger::AllocatorCounters Governor::ledger_counters() {
  const Counters counters = sample();
  if (pool_ != nullptr) return pool_->ledger_counters();
  ledger::AllocatorCounters held;
  held.live = counters.live_bytes;
  held.retained = counters.retained_bytes;
  return held;
}

void Governor::reset_peaks() {
  check_thread();
  if (pool_ != nullptr) {
    pool_->allocator.reset_host_peak();
  } else {
    memory_->reset_peak();
  }
  retained_peak_bytes_ = static_cast<std::int64_t>(retained());
}

Result<void> require_enforceable(const limits::Resolved& limits, wire::Allocator allocator) {
  const limits::Setting& memory = limits.memory_limit;
  if (memory.mode != limits::Mode::kBytes || allocator != wire::Allocator::kMlx) return {};
  return fail(ErrorKind::kUsage, memory.source,
              "a memory limit of " + exact_bytes(memory.bytes.value_or(0)) +
                  " cannot be kept with the allocator mlx: MLX's own memory limit refuses no allocation on "
                  "this backend; use --allocator weir (or mlx-policy), or bound what is retained with "
                  "--cache-limit");
}

}  // namespace weir::govern
