#include "govern/control_watch.h"

#include <sys/socket.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "govern/governor_thread.h"
#include "wire/kept_errno.h"

namespace weir::govern {
namespace {

constexpr std::uint64_t kDeafMs = 1'000;

/// The events of this descriptor; 0: none.
int events_of(const std::vector<pollfd>& ready, int fd) noexcept {
  for (const pollfd& descriptor : ready)
    if (descriptor.fd == fd) return descriptor.revents;
  return 0;
}

/// False where the client does not read: then it is dropped.
bool send_reply(const GuestSocket& to, const wire::ControlReply& reply) noexcept {
  return ::send(to.get(), &reply, sizeof reply, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(sizeof reply);
}

wire::ControlReply reply_of(wire::ControlStatus status, std::uint16_t verb, const char* text) noexcept {
  wire::ControlReply reply;
  reply.status = static_cast<std::uint16_t>(status);
  reply.verb = verb;
  std::strncpy(reply.text, text, sizeof reply.text - 1);
  return reply;
}

/// A client that came and went within one turn: it must not hold a place against who comes next.
bool has_left(const GuestSocket& client) noexcept {
  char byte = 0;
  return client.is_ours() && ::recv(client.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/// A last word to somebody who is not let in. What it has sent is read first: closing over unread bytes would
/// take the word away from it.
void turn_away(const GuestSocket& from, wire::ControlStatus status, const char* text) noexcept {
  char unread[sizeof(wire::ControlRequest)];
  (void)::recv(from.get(), unread, sizeof unread, MSG_DONTWAIT);
  (void)send_reply(from, reply_of(status, 0, text));
}

/// How long until `end`, for poll().
int ms_until(std::uint64_t end, std::uint64_t now) noexcept {
  constexpr std::uint64_t kMost = std::numeric_limits<int>::max();
  return end <= now ? 0 : static_cast<int>(std::min(end - now, kMost));
}

}  // namespace

const char* ControlWatch::open(const std::string& folder) noexcept {
  return socket_.open(folder, *page_.load());
}

void ControlWatch::leave() noexcept {
  const wire::KeptErrno kept;
  socket_.leave();
  for (Connection& connection : connections_)
    connection.socket.close();
}

void ControlWatch::add_descriptors(std::vector<pollfd>& into) {
  if (socket_.listening() && deaf_until_ms_ == 0) into.push_back({socket_.listening().get(), POLLIN, 0});
  for (const Connection& connection : connections_)
    if (connection.socket) into.push_back({connection.socket.get(), POLLIN, 0});
}

int ControlWatch::patience_ms(std::uint64_t now_ms) {
  int patience = deaf_until_ms_ == 0 ? -1 : ms_until(deaf_until_ms_, now_ms);
  for (const Connection& connection : connections_) {
    if (!connection.socket) continue;
    const int its = ms_until(connection.last_ms + kIdleMs, now_ms);
    patience = patience < 0 ? its : std::min(patience, its);
  }
  return patience;
}

void ControlWatch::wake(std::uint64_t now_ms, const std::vector<pollfd>& ready) {
  if (deaf_until_ms_ <= now_ms) deaf_until_ms_ = 0;
  for (Connection& connection : connections_) {
    if (!connection.socket) continue;
    if (events_of(ready, connection.socket.get()) != 0) {
      serve(connection);
      connection.last_ms = governor_now_ms();
    } else if (now_ms >= connection.last_ms + kIdleMs) {
      connection.socket.close();
    }
  }
  if (socket_.listening() && events_of(ready, socket_.listening().get()) != 0) accept_all(governor_now_ms());
}

void ControlWatch::accept_all(std::uint64_t now_ms) {
  // Bounded, so that a crowd at the door cannot hold up the other watches.
  for (std::size_t i = 0; i < 2 * kConnections; ++i) {
    if (!socket_.listening().is_ours()) return socket_.listening().close();
    GuestSocket connection(
        ::accept4(socket_.listening().get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (connection) {
      take_in(std::move(connection), now_ms);
      continue;
    }
    if (errno == EINTR || errno == ECONNABORTED) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) deaf_until_ms_ = now_ms + kDeafMs;
    return;
  }
}

void ControlWatch::take_in(GuestSocket connection, std::uint64_t now_ms) {
  if (!is_allowed_peer(connection.get()))
    return turn_away(connection, wire::ControlStatus::kRefused,
                     "this process belongs to another user; only that user and root may talk to it");
  for (Connection& place : connections_) {
    if (has_left(place.socket)) place.socket.close();
    if (place.socket) continue;
    place.socket = std::move(connection);
    place.last_ms = now_ms;
    return;
  }
  turn_away(connection, wire::ControlStatus::kBusy, "too many connections to this process; try again");
}

bool ControlWatch::is_for_us(const wire::ControlRequest& request, wire::ControlReply& refusal) const {
  const wire::CountersPage& page = *page_.load();
  if (request.pid == page.pid.load() && request.start_ticks == page.start_ticks.load()) return true;
  refusal = reply_of(wire::ControlStatus::kRefused, request.verb,
                     "another process was meant; that one has ended and its number was given away");
  return false;
}

void ControlWatch::serve(Connection& connection) {
  char bytes[sizeof(wire::ControlRequest)];
  if (!connection.socket.is_ours()) return connection.socket.close();
  // The kernel tells the whole length, however much of it fits.
  const ssize_t length = ::recv(connection.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT | MSG_TRUNC);
  if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return;
  if (length <= 0) return connection.socket.close();
  wire::ControlRequest request;
  if (!wire::parse_control_request(bytes, static_cast<std::size_t>(length), request)) {
    (void)send_reply(connection.socket,
                     reply_of(wire::ControlStatus::kBadRequest, 0,
                              "not a request that this version of weir knows; use the weir that started it"));
    return connection.socket.close();
  }
  wire::ControlReply reply;
  if (is_for_us(request, reply)) reply = answer_control(request, log_, page_, need_);
  if (!send_reply(connection.socket, reply)) connection.socket.close();
}

}  // namespace weir::govern
