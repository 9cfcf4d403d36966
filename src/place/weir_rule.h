#pragma once

#include <cstdint>

#include "place/units.h"

namespace weir::place {

/// weir's own retention: how many bytes of free granules may stay backed. Without a limit it follows demand:
/// the largest use of the last windows, times (1 + margin), plus a small constant, less what is in use; so
/// what is backed stays near recent peak use, recurrent dips are kept, and memory that nobody has needed for
/// a while goes back. With a limit, the smaller of both. Pure.
class WeirRule {
 public:
  struct Options {
    Tick window_ms = 60'000;  ///< Demand is remembered for one to two of these.
    std::uint64_t margin_percent = 5;
    std::uint64_t constant_bytes = 4ULL << 20;
  };

  WeirRule() noexcept : WeirRule(Options{}) {}
  explicit WeirRule(const Options& options) noexcept : options_(options) {}

  /// `use`: granted + padding, now. To be called at each grant and free.
  void observe(std::uint64_t use, Tick now) noexcept;
  /// kNoBound: follow demand alone.
  void set_limit(std::uint64_t limit) noexcept { limit_ = limit; }
  [[nodiscard]] std::uint64_t limit() const noexcept { return limit_; }
  /// Bytes that may be retained beside `use`.
  [[nodiscard]] std::uint64_t most_retained(std::uint64_t use) const noexcept;

 private:
  Options options_;
  std::uint64_t limit_ = kNoBound;
  Tick window_start_ = 0;
  std::uint64_t this_window_ = 0;
  std::uint64_t last_window_ = 0;
  std::uint64_t latest_use_ = 0;
};

}  // namespace weir::place
