#include "govern/governor.h"

#include <algorithm>
#include <limits>

#include "base/byte_text.h"
#include "base/check.h"
#include "ledger/heap.h"

namespace weir::govern {

namespace {

/// MLX keeps limits as size_t and adds to them; half the range is beyond any machine and cannot overflow.
constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max() / 2;

std::optional<std::int64_t> known(std::uint64_t bytes) {
  if (bytes >= kUnlimited) return std::nullopt;
  return static_cast<std::int64_t>(bytes);
}

}  // namespace

Governor::Governor(IMlxMemory& memory) : memory_(memory), owner_(std::this_thread::get_id()) {
  in_force_ = read_back();
  default_bytes_ = static_cast<std::int64_t>(std::min(in_force_, kUnlimited));
}

void Governor::check_thread() const {
  WEIR_CHECK_EQ(std::this_thread::get_id(), owner_);
}

/// MLX has no getter for the cache limit: setting returns the previous value, so set and put back.
std::uint64_t Governor::read_back() {
  const std::uint64_t value = memory_.set_cache_limit(kUnlimited);
  memory_.set_cache_limit(value);
  return value;
}

std::optional<std::int64_t> Governor::cache_limit_bytes() const noexcept {
  return known(in_force_);
}

LimitChange Governor::set_cache_limit(const limits::Setting& setting) {
  check_thread();
  std::uint64_t target = kUnlimited;
  if (setting.mode == limits::Mode::kUnset) target = static_cast<std::uint64_t>(default_bytes_);
  if (setting.mode == limits::Mode::kBytes) {
    WEIR_CHECK(setting.bytes.has_value());
    target = static_cast<std::uint64_t>(*setting.bytes);
  }
  // What `auto` came to is in effective_bytes: a limit, the library's default, or none.
  if (setting.mode == limits::Mode::kAuto && setting.effective_bytes)
    target = static_cast<std::uint64_t>(*setting.effective_bytes);
  LimitChange change;
  const auto before = static_cast<std::int64_t>(memory_.cache_bytes());
  change.previous_bytes = known(memory_.set_cache_limit(target));
  if (memory_.cache_bytes() > target) memory_.clear_cache();
  in_force_ = read_back();
  change.in_force_bytes = known(in_force_);
  change.trimmed_bytes = std::max<std::int64_t>(0, before - static_cast<std::int64_t>(memory_.cache_bytes()));
  return change;
}

std::int64_t Governor::trim() {
  check_thread();
  const auto before = static_cast<std::int64_t>(memory_.cache_bytes());
  memory_.clear_cache();
  return before - static_cast<std::int64_t>(memory_.cache_bytes());
}

std::int64_t Governor::trim_and_return() {
  const std::int64_t dropped = trim();
  (void)ledger::trim_heap();
  return dropped;
}

Counters Governor::sample() {
  check_thread();
  Counters counters;
  counters.live_bytes = static_cast<std::int64_t>(memory_.active_bytes());
  counters.retained_bytes = static_cast<std::int64_t>(memory_.cache_bytes());
  counters.live_peak_bytes = static_cast<std::int64_t>(memory_.peak_bytes());
  retained_peak_bytes_ = std::max(retained_peak_bytes_, counters.retained_bytes);
  counters.retained_peak_bytes = retained_peak_bytes_;
  return counters;
}

void Governor::reset_peaks() {
  check_thread();
  memory_.reset_peak();
  retained_peak_bytes_ = static_cast<std::int64_t>(memory_.cache_bytes());
}

Result<void> require_enforceable(const limits::Resolved& limits) {
  const limits::Setting& memory = limits.memory_limit;
  if (memory.mode != limits::Mode::kBytes) return {};
  return fail(
      ErrorKind::kEnvironment, memory.source,
      "a memory limit of " + exact_bytes(memory.bytes.value_or(0)) +
          " cannot be kept: MLX's own memory limit refuses no allocation on this backend, and this build has "
          "no pool that would; leave it out, or bound what is retained with --cache-limit");
}

}  // namespace weir::govern
