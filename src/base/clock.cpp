#include "base/clock.h"

namespace weir {

Nanoseconds SystemClock::now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::int64_t SystemClock::unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace weir
