#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::ledger {

/// Which memory cgroup a process is in, as /proc/PID/cgroup tells.
struct CgroupMembership {
  std::optional<std::string> memory_v1;  ///< Path in the v1 memory hierarchy.
  std::optional<std::string> v2;         ///< Path in the unified hierarchy.
};

/// Lines that are not "<id>:<controllers>:<path>" are skipped. Pure.
[[nodiscard]] CgroupMembership parse_cgroup(std::string_view text);

/// One cgroup mount of /proc/PID/mountinfo.
struct CgroupMount {
  bool v2 = false;
  std::string root;   ///< The cgroup that is visible at the mount point.
  std::string point;  ///< Where it is mounted, octal escapes resolved.
};

/// The cgroup2 mounts and the v1 mounts of the memory controller; every other line is skipped. Pure.
[[nodiscard]] std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo);

/// What bounds a process through its cgroup and those above it, as far as they are visible.
struct CgroupMemory {
  std::optional<std::int64_t> limit_bytes;  ///< The smallest limit up the tree; nullopt: none.
  std::optional<std::int64_t> usage_bytes;  ///< Usage of the cgroup that has that limit.
  std::optional<std::int64_t>
      headroom_bytes;  ///< Smallest of limit − usage + inactive file cache, at least 0.
  std::string source;  ///< The file of that limit, or why there is none.
};

/// Reads below `root` (tests pass a made-up tree). v1 is used where it has the memory controller, else v2.
/// v1's huge "unlimited" number and v2's "max" are no limit. What cannot be read is no limit; `source` says
/// so.
[[nodiscard]] CgroupMemory own_cgroup_memory(const std::filesystem::path& root = "/");

}  // namespace weir::ledger
