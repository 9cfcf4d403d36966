#pragma once

#include <chrono>
#include <cstdint>

namespace weir {

using Nanoseconds = std::chrono::nanoseconds;

/// Where time comes from; injected, so that the lab runs on a fake one in tests.
class IClock {
 public:
  virtual ~IClock() = default;
  /// Monotonic time since an arbitrary start.
  [[nodiscard]] virtual Nanoseconds now() = 0;
  /// Seconds since 1970 (UTC).
  [[nodiscard]] virtual std::int64_t unix_seconds() = 0;
};

/// CLOCK_MONOTONIC and CLOCK_REALTIME.
class SystemClock final : public IClock {
 public:
  [[nodiscard]] Nanoseconds now() override;
  [[nodiscard]] std::int64_t unix_seconds() override;
};

[[nodiscard]] constexpr double seconds(Nanoseconds duration) noexcept {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace weir
