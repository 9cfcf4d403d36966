#pragma once

#include <poll.h>
#include <cstdint>
#include <vector>

namespace weir::govern {

/// Something that the governor's thread waits for: the control socket, a boundary (idle, pressure), a device
/// to look at. The thread sleeps in poll() until one of them has work, so a watch that waits for nothing
/// costs nothing. All calls come from that thread. Nothing is thrown.
class IWatch {
 public:
  virtual ~IWatch() = default;
  /// Adds the descriptors that it waits on now.
  virtual void add_descriptors(std::vector<pollfd>& into) = 0;
  /// How long it can sleep at most, in milliseconds from now; negative: until a descriptor is ready.
  [[nodiscard]] virtual int patience_ms(std::uint64_t now_ms) = 0;
  /// After each sleep; `ready` are all descriptors with their `revents`.
  virtual void wake(std::uint64_t now_ms, const std::vector<pollfd>& ready) = 0;
};

}  // namespace weir::govern
