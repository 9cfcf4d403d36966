#pragma once

#include <sys/types.h>
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

/// How often a cgroup met its bounds since it was made (v2 memory.events; v1 memory.failcnt and
/// memory.oom_control). nullopt: the kernel does not tell.
struct CgroupEvents {
  std::optional<std::int64_t> high;      ///< Times that memory.high slowed somebody down.
  std::optional<std::int64_t> max;       ///< Times that the limit was met.
  std::optional<std::int64_t> oom_kill;  ///< Processes killed for it.
};

/// The lines of memory.events, or of v1's memory.oom_control, that are known here; others are skipped. Pure.
[[nodiscard]] CgroupEvents parse_cgroup_events(std::string_view text);

/// What bounds a process through its cgroup and those above it, as far as they are visible.
struct CgroupMemory {
  std::optional<std::int64_t> limit_bytes;  ///< The smallest limit up the tree; nullopt: none.
  std::optional<std::int64_t> usage_bytes;  ///< Usage of the cgroup that has that limit.
  /// Smallest of bound − usage + inactive file cache, at least 0, over every memory.max and memory.high: who
  /// passes `high` is slowed down until it gives back.
  std::optional<std::int64_t> headroom_bytes;
  std::string source;  ///< The file of that limit, or why there is none.

  std::optional<std::int64_t> high_bytes;        ///< The smallest memory.high up the tree (v2).
  std::optional<std::int64_t> high_usage_bytes;  ///< Usage of the cgroup that has it.
  std::string high_source;                       ///< Its file; "" where there is none.
  CgroupEvents events;  ///< `max`, `oom_kill` of the cgroup with the limit, `high` of the one with `high`.
};

/// Reads below `root` (tests pass a made-up tree). v1 is used where it has the memory controller, else v2.
/// v1's huge "unlimited" number and v2's "max" are no limit. What cannot be read is no limit; `source` says
/// so.
[[nodiscard]] CgroupMemory own_cgroup_memory(const std::filesystem::path& root = "/");
/// The same for another process, through this process's mounts: a cgroup that they do not show counts as the
/// nearest one above it that they do. A process that is gone has no limit.
[[nodiscard]] CgroupMemory process_cgroup_memory(pid_t pid, const std::filesystem::path& root = "/");

/// A memory cgroup, and who made it.
struct CgroupName {
  std::string path;      ///< In its hierarchy, as this process's cgroup namespace shows it; "" unknown.
  bool v2 = false;       ///< Which hierarchy.
  bool hidden = false;   ///< The top that is visible here is not the machine's: a container or a cgroup
                         ///< namespace. Limits above it, and their usage, cannot be seen.
  std::string manager;   ///< "docker", "podman", "kubernetes", "containerd", "cri-o", "lxc", "slurm",
                         ///< "systemd", "container" (an id alone); "" where nothing is recognised.
  std::string instance;  ///< A container's id (12 digits), a pod's, a unit's or a job's name; "" with no
                         ///< manager.

  /// For people: "docker 3f2a9c1b44d0", "systemd llm.service", the path where no manager is known, "" at the
  /// root or unknown. UTF-8 without control characters.
  [[nodiscard]] std::string label() const;
};

/// Manager and instance as the path tells: docker-ID.scope, /docker/ID, libpod-ID.scope, kubepods…/podUID/ID,
/// cri-containerd-ID.scope, crio-ID.scope, lxc.payload.NAME, /slurm/…/job_N, NAME.service, NAME.scope. The
/// innermost that fits. Any bytes. Pure.
[[nodiscard]] CgroupName name_cgroup(std::string_view path);

/// The memory cgroup of a process (0: of this one); `path` is "" where it is gone or has none. A container
/// whose namespace hides its path is recognised, for this process alone, by the marks that its manager leaves
/// (/.dockerenv, /run/.containerenv, /run/systemd/container, a service account of Kubernetes).
[[nodiscard]] CgroupName process_cgroup(pid_t pid, const std::filesystem::path& root = "/");

}  // namespace weir::ledger
