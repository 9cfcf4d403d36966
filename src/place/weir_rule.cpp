#include "place/weir_rule.h"

#include <algorithm>

namespace weir::place {

void WeirRule::observe(std::uint64_t use, Tick now) noexcept {
  const Tick passed = now - window_start_;
  if (passed >= options_.window_ms) {
    // What was in use when the last call ended was so through all the time since.
    last_window_ = passed >= 2 * options_.window_ms ? latest_use_ : this_window_;
    this_window_ = latest_use_;
    window_start_ = now - passed % options_.window_ms;
  }
  latest_use_ = use;
  this_window_ = std::max(this_window_, use);
}

std::uint64_t WeirRule::most_retained(std::uint64_t use) const noexcept {
  const std::uint64_t peak = std::max(this_window_, last_window_);
  const std::uint64_t kept = peak + peak / 100 * options_.margin_percent + options_.constant_bytes;
  return std::min(limit_, kept > use ? kept - use : 0);
}

}  // namespace weir::place
