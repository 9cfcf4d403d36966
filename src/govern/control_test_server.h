#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "govern/act_log.h"
#include "govern/control_watch.h"
#include "govern/fake_acts.h"
#include "govern/governor_thread.h"
#include "wire/control.h"
#include "wire/page_file.h"

namespace weir::govern {

inline constexpr std::uint64_t kRun = 77;

/// A page, its socket, and the thread that answers. Leaked like everything of a governed process.
struct Server {
  explicit Server(const std::string& folder)
      : folder_path(folder), page(wire::make_page(folder.c_str(), {.run = kRun}, nullptr)) {
    page->state = static_cast<std::uint32_t>(wire::PageState::kGoverned);
    slot = page;
  }
  void start() {
    ASSERT_EQ(watch.open(folder_path), nullptr);
    ASSERT_TRUE(watch.is_open());
    ASSERT_TRUE(thread.start({&watch}));
  }

  std::string folder_path;
  wire::CountersPage* page;
  PageSlot slot{nullptr};
  std::unique_ptr<FakeActs> acts = std::make_unique<FakeActs>(*page);
  ActLog log{*acts, slot};
  ControlWatch watch{log, slot};
  GovernorThread thread;
};

/// A client that says what it wants, byte by byte.
class Raw {
 public:
  explicit Raw(const std::string& socket) : fd_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
    connected_ = ::connect(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    const timeval patience{5, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  }
  [[nodiscard]] bool connected() const { return connected_; }
  bool send(const void* bytes, std::size_t length, int flags = 0) {
    return ::send(fd_.get(), bytes, length, MSG_NOSIGNAL | flags) == static_cast<ssize_t>(length);
  }
  /// nullopt: the end, or nothing within five seconds.
  std::optional<wire::ControlReply> reply() {
    char bytes[sizeof(wire::ControlReply)];
    wire::ControlReply into;
    const ssize_t got = ::recv(fd_.get(), bytes, sizeof bytes, MSG_TRUNC);
    if (got <= 0 || !wire::parse_control_reply(bytes, static_cast<std::size_t>(got), into))
      return std::nullopt;
    return into;
  }
  /// Closed by the other side, seen within five seconds.
  bool ended() {
    char byte = 0;
    for (;;) {
      const ssize_t got = ::recv(fd_.get(), &byte, 1, MSG_TRUNC);
      if (got <= 0) return got == 0 || errno == ECONNRESET;
    }
  }

 private:
  OwnedFd fd_;
  bool connected_ = false;
};

}  // namespace weir::govern
