#pragma once

#include <cstdint>

namespace weir::ledger {

/// Page faults of the whole process (all threads, also ended ones) since it began.
struct Faults {
  std::int64_t minor = 0;  ///< Served from memory.
  std::int64_t major = 0;  ///< Had to wait for storage.
};

/// One system call (getrusage). Thread-safe.
[[nodiscard]] Faults own_faults() noexcept;

}  // namespace weir::ledger
