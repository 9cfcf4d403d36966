#pragma once

#include <sys/types.h>
#include <cstdint>
#include <optional>
#include <string>

#include "wire/control.h"
#include "wire/counters_page.h"

namespace weir::govern {

/// A socket of ours inside somebody else's program. That program may close every descriptor that it does not
/// know and get the number again for a file of its own, so this one is asked for its identity before each
/// use: what is no longer ours is forgotten and never closed. Not copyable.
class GuestSocket {
 public:
  GuestSocket() = default;
  /// Takes the descriptor over; -1 is none. Moves it above the standard three, which a host may have closed.
  explicit GuestSocket(int fd) noexcept;
  GuestSocket(GuestSocket&& other) noexcept;
  GuestSocket& operator=(GuestSocket&& other) noexcept;
  GuestSocket(const GuestSocket&) = delete;
  GuestSocket& operator=(const GuestSocket&) = delete;
  ~GuestSocket() { close(); }

  /// The descriptor, whoever's it is now; -1 when there is none.
  [[nodiscard]] int get() const noexcept { return fd_; }
  [[nodiscard]] explicit operator bool() const noexcept { return fd_ >= 0; }
  [[nodiscard]] bool is_ours() const noexcept;
  /// Closes what is still ours.
  void close() noexcept;

 private:
  int fd_ = -1;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// Whether the peer may talk to this process: its own user, or root.
[[nodiscard]] bool is_allowed_peer(int connection) noexcept;

/// The listening control socket beside the page of this process (wire/control.h). Its file is made, and
/// removed, only where the page's own file of this process stands. System calls, no heap but the folder's
/// name. Keeps errno. Not thread-safe.
class ControlSocket {
 public:
  ControlSocket() = default;
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket() = default;  // nothing clever: the file goes with `remove`

  /// Replaces what a dead process of this number left. Where that fails there is no socket, and the answer is
  /// the reason: static text; null when all is well, also where there is no page to stand beside.
  const char* open(const std::string& folder, const wire::CountersPage& page) noexcept;
  [[nodiscard]] const GuestSocket& listening() const noexcept { return listening_; }
  [[nodiscard]] GuestSocket& listening() noexcept { return listening_; }
  /// The end: removes the file, when it is the one made here, and closes nothing.
  void remove() noexcept;
  /// In a fork's child: closes its copy; the file is its parent's.
  void leave() noexcept;

 private:
  const char* bind_in(int folder, const wire::CountersPage& page) noexcept;

  GuestSocket listening_;
  std::string folder_;
  char name_[wire::kSocketNameBytes] = {};
  dev_t file_device_ = 0;
  ino_t file_inode_ = 0;  // 0: no file of ours
};

}  // namespace weir::govern
