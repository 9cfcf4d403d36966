#pragma once

#include <poll.h>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/owned_fd.h"
#include "govern/control_socket.h"

namespace weir::govern {

/// Where the kernel tells this process that memory runs short, as far as it lets us listen. Each is optional:
///   /proc/pressure/memory   somebody on the machine waited for memory 150 ms of 2 s (windows of 2 s are open
///                           to every user)
///   memory.pressure         the same within this process's cgroup (v2)
///   memory.events           this cgroup met `high` or `max` (v2)
///   memory.pressure_level   the kernel reclaims in this cgroup with some effort, "medium" (v1)
/// Not thread-safe. A descriptor that the program closed behind our back is given up: never read, never
/// closed.
class PressureSources {
 public:
  PressureSources() = default;
  /// Reads below `root` (tests pass a made-up tree).
  [[nodiscard]] static PressureSources open(const std::filesystem::path& root = "/");

  /// What is listened to, by path.
  [[nodiscard]] std::vector<std::string> names() const;
  void add_descriptors(std::vector<pollfd>& into) const;
  /// Whether one of them has spoken since the last call.
  [[nodiscard]] bool take(const std::vector<pollfd>& ready);

 private:
  enum class Kind : std::uint8_t { kStall, kEvents, kLevel };
  struct Source {
    Kind kind;
    std::string name;
    GuestSocket fd;
    std::int64_t met = 0;  ///< Of kEvents: `high` + `max` as read last.
  };

  void add(Kind kind, const std::filesystem::path& path, OwnedFd fd, std::int64_t met = 0);
  void add_stall(const std::filesystem::path& path);
  void add_events(const std::filesystem::path& path);
  void add_level(const std::filesystem::path& cgroup);
  [[nodiscard]] static bool has_spoken(Source& source);

  std::vector<Source> sources_;
};

}  // namespace weir::govern
