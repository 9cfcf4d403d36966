#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/cgroup.h"

/// Where a memory cgroup lies in the file system: shared by the readers of `cgroup.h`.
namespace weir::ledger::cgroup_tree {

inline constexpr std::size_t kLargestFile = 1u << 20;

/// The word up to `separator`, which is dropped from `rest` with it.
std::string_view take(std::string_view& rest, char separator);

/// A decimal number of bytes or times; trailing newlines are allowed, a sign or anything else is not.
[[nodiscard]] std::optional<std::int64_t> parse_number(std::string_view text);

/// The path of a cgroup below a mount's point; "" for the mount point itself. nullopt: it lies outside of
/// what is mounted (another namespace, "/..").
[[nodiscard]] std::optional<std::filesystem::path> below_mount(std::string_view cgroup,
                                                               const std::string& mount_root);

/// A process's memory cgroup and a mount that shows it, or something above it.
struct Place {
  CgroupMount mount;
  std::string path;             ///< As /proc/PID/cgroup says.
  std::filesystem::path below;  ///< Below the mount point; "" where the cgroup itself is not visible.
  bool outside = false;         ///< The cgroup lies outside of what is mounted.
};

/// nullopt: the process is gone, or no mount shows its hierarchy. 0 is this process.
[[nodiscard]] std::optional<Place> find_place(pid_t pid, const std::filesystem::path& root);

}  // namespace weir::ledger::cgroup_tree
