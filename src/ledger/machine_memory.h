#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "ledger/layers.h"

namespace weir::ledger {

/// What the machine and this process's cgroup allow, in bytes.
struct MachineMemory {
  std::int64_t total_bytes = 0;      ///< MemTotal
  std::int64_t available_bytes = 0;  ///< MemAvailable
  Bytes cgroup_limit_bytes;          ///< The smallest limit up the tree; nullopt: none.
  Bytes cgroup_usage_bytes;          ///< Usage of the cgroup that has that limit, page cache included.
  Bytes cgroup_headroom_bytes;  ///< Smallest of limit − usage + inactive file cache over the tree (cgroup.h).
  std::string cgroup_source;    ///< The file of the limit, or why there is none.

  /// The smaller of available_bytes and the cgroup's head-room; never below 0. The denominator of "%free".
  [[nodiscard]] std::int64_t free_bytes() const noexcept;
};

/// Reads `root`/proc/meminfo and the cgroup files (tests pass a made-up tree). A kernel without MemAvailable
/// is kBadData. Thread-safe.
[[nodiscard]] Result<MachineMemory> machine_memory(const std::filesystem::path& root = "/");

}  // namespace weir::ledger
