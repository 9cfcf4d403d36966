#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "govern/act_log.h"
#include "govern/control_socket.h"
#include "govern/i_watch.h"
#include "wire/control.h"

namespace weir::govern {

/// Answers one request that was taken apart: acts, and notes it. `need` answers Verb::kNeed; empty: refused.
/// Nothing is thrown.
using NeedHook = std::function<Effect(std::uint64_t bytes)>;
[[nodiscard]] wire::ControlReply answer_control(const wire::ControlRequest& request, ActLog& log,
                                                const PageSlot& page, const NeedHook& need) noexcept;

/// The control socket of this process and who is connected to it: at most kConnections, each of this user or
/// root, each closed after kIdleMs without a request. A client that stops reading is dropped; one request of
/// each is answered a turn. Belongs to the governor's thread but for `open`, `leave` and `end`, which want it
/// at rest.
class ControlWatch final : public IWatch {
 public:
  static constexpr std::size_t kConnections = 16;
  static constexpr std::uint64_t kIdleMs = 10'000;

  /// Both must outlive this.
  ControlWatch(ActLog& log, const PageSlot& page) noexcept : log_(log), page_(page) {}

  /// Who answers a neighbour's need; before the thread starts.
  void on_need(NeedHook hook) { need_ = std::move(hook); }
  /// As ControlSocket::open.
  const char* open(const std::string& folder) noexcept;
  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(socket_.listening()); }
  /// In a fork's child: closes what it inherited.
  void leave() noexcept;
  /// The end: the socket's file goes; what is open closes with the process.
  void end() noexcept { socket_.remove(); }

  void add_descriptors(std::vector<pollfd>& into) override;
  [[nodiscard]] int patience_ms(std::uint64_t now_ms) override;
  void wake(std::uint64_t now_ms, const std::vector<pollfd>& ready) override;

 private:
  struct Connection {
    GuestSocket socket;
    std::uint64_t last_ms = 0;
  };

  void accept_all(std::uint64_t now_ms);
  void take_in(GuestSocket connection, std::uint64_t now_ms);
  void serve(Connection& connection);
  [[nodiscard]] bool is_for_us(const wire::ControlRequest& request, wire::ControlReply& refusal) const;

  ActLog& log_;
  const PageSlot& page_;
  NeedHook need_;
  ControlSocket socket_;
  std::array<Connection, kConnections> connections_;
  std::uint64_t deaf_until_ms_ = 0;  // No descriptor could be had for a connection.
};

}  // namespace weir::govern
