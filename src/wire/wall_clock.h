#pragma once

#include <time.h>
#include <cstdint>

namespace weir::wire {

/// CLOCK_REALTIME in nanoseconds since 1970, as pages show moments.
[[nodiscard]] inline std::uint64_t wall_clock_ns() noexcept {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace weir::wire
