#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weir::cli {

/// Which libraries that matter a process has mapped.
struct MappedLibraries {
  bool mlx = false;    ///< libmlx.so.
  bool agent = false;  ///< weir's, preloaded.
  bool core =
      false;  ///< What the agent loads when MLX is used first, and unloads where it declines to govern.
};

/// From the text of /proc/PID/maps. Any bytes. Pure.
[[nodiscard]] MappedLibraries mapped_libraries(std::string_view maps);

/// What a process calls itself, from the text of its /proc/PID/status: another number than ours in a PID
/// namespace below ours. 0: the text does not say. Any bytes. Pure.
[[nodiscard]] pid_t innermost_pid(std::string_view status);

/// A process that had MLX mapped when somebody looked.
struct Sighting {
  std::string command;
  MappedLibraries libraries;
  pid_t own_pid = 0;  ///< innermost_pid.
};

/// Looks now and then which processes below one have MLX mapped: how `weir run` learns of a process that
/// nobody governs, such as one behind a wrapper that wiped the environment. A look reads /proc/PID/maps of
/// each, which takes that process's memory lock for the reading (about 0.1 ms for a Python process). The
/// looks come at 0.1, 0.2, 0.4, … seconds and then every five; a process that lives between two is not seen,
/// and neither is one that left the tree.
class MlxSightings {
 public:
  explicit MlxSightings(pid_t root) : root_(root) {}
  /// Looks if it is time, `since_start` after the start.
  void look_if_due(std::chrono::milliseconds since_start);
  void look();
  /// By pid; a process that is gone stays in the list.
  [[nodiscard]] const std::map<pid_t, Sighting>& seen() const noexcept { return seen_; }

 private:
  void look_at(pid_t pid);

  pid_t root_;
  std::chrono::milliseconds next_{100};
  std::map<pid_t, Sighting> seen_;
};

}  // namespace weir::cli
