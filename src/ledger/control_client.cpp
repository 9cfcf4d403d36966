#include "ledger/control_client.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <thread>

#include "ledger/outside_text.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// For a process whose door is crowded.
constexpr time_t kConnectSeconds = 5;

std::string name_of(const PageReading& page) {
  return "process " + std::to_string(page.pid);
}

tl::unexpected<Error> unreachable(const PageReading& page, std::string what) {
  return fail(ErrorKind::kEnvironment, name_of(page), std::move(what));
}

bool lives(const PageReading& page) {
  return wire::is_alive(page.pid, page.start_ticks);
}

/// After a connection that was closed: a process that dies closes its sockets a moment before it counts as
/// dead.
bool has_ended(const PageReading& page) {
  constexpr int kLooks = 50;
  for (int look = 0; look < kLooks; ++look) {
    if (!lives(page)) return true;
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

/// Root may talk to anybody, others to themselves.
bool is_ours(uid_t owner) {
  return owner == ::geteuid() || ::geteuid() == 0;
}

Result<OwnedFd> open_folder(const std::filesystem::path& path) {
  OwnedFd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!folder || ::fstat(folder.get(), &status) != 0)
    return fail(ErrorKind::kEnvironment, path.string(),
                std::string("cannot look into this folder for pages and sockets: ") + std::strerror(errno));
  if (!is_ours(status.st_uid))
    return fail(ErrorKind::kEnvironment, path.string(),
                "belongs to user " + std::to_string(status.st_uid) + ", not to you");
  if ((status.st_mode & 0777) != 0700)
    return fail(ErrorKind::kEnvironment, path.string(), "lets others in; chmod 700 it");
  return folder;
}

/// Nothing where a socket of ours stands there.
Result<void> check_file(int folder, const char* name, const PageReading& page) {
  struct stat status {};
  if (::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (!lives(page)) return unreachable(page, "has ended; weir ps shows what lives");
    return unreachable(page,
                       "has no control socket: what it is governed by can be changed only by starting it "
                       "anew; it says why on its stderr");
  }
  if (!S_ISSOCK(status.st_mode) || !is_ours(status.st_uid))
    return unreachable(page, std::string("what stands in its socket's place is not yours: ") + name +
                                 "; remove it and start the process anew");
  return {};
}

/// An address holds 108 bytes and a folder's path may be longer, so the way goes through its descriptor.
sockaddr_un address_in(int folder, const char* name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
  return address;
}

tl::unexpected<Error> cannot_connect(const PageReading& page, int error) {
  if (!lives(page)) return unreachable(page, "has ended; weir ps shows what lives");
  if (error == ECONNREFUSED)
    return unreachable(page,
                       "listens no more: its program has closed the control socket or become another one");
  if (error == EAGAIN) return unreachable(page, "is asked by too many at once; try again");
  return unreachable(page, std::string("cannot be reached by its control socket: ") + std::strerror(error));
}

/// Who listens there now, whatever the page says.
Result<void> check_peer(int socket, const PageReading& page) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    return unreachable(page, std::string("does not say who it is: ") + std::strerror(errno));
  if (!is_ours(peer.uid))
    return unreachable(page, "its socket belongs to user " + std::to_string(peer.uid) + ", not to you");
  if (peer.pid == page.pid) return {};
  if (page.pid_namespace != 0 && page.pid_namespace != wire::own_pid_namespace())
    return unreachable(page, "lives in another pid namespace (a container); run weir ctl there");
  return unreachable(page, "its socket is answered by process " + std::to_string(peer.pid) +
                               ": that number was given away; weir ps shows what lives");
}

/// True when something can be read (also the end); false when time is up.
bool wait_for_answer(int socket, milliseconds patience) {
  const auto end = Clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    pollfd waits{socket, POLLIN, 0};
    const int ready = ::poll(&waits, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, INT32_MAX)));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

std::int64_t size(std::uint64_t bytes) {
  return static_cast<std::int64_t>(bytes);
}

ControlAnswer answer_of(const wire::ControlReply& reply) {
  ControlAnswer answer;
  answer.status = static_cast<wire::ControlStatus>(reply.status);
  answer.text = fit_for_output({reply.text, ::strnlen(reply.text, sizeof reply.text)});
  answer.released = size(reply.released);
  answer.heap_released = size(reply.heap_released);
  answer.driver_released = size(reply.driver_released);
  answer.driver_kept = size(reply.driver_kept);
  answer.cache_limit = reply.cache_limit;
  answer.memory_limit = reply.memory_limit;
  if (reply.has_sample != 0) answer.layers = layers_of(reply.sample);
  return answer;
}

std::string seconds_text(milliseconds patience) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", std::chrono::duration<double>(patience).count());
  return text;
}

}  // namespace

Result<ControlClient> ControlClient::connect(const std::filesystem::path& folder, const PageReading& page) {
  auto directory = open_folder(folder);
  if (!directory) return tl::unexpected(std::move(directory.error()));
  char name[wire::kSocketNameBytes];
  wire::print_socket_name(page.run, static_cast<std::uint32_t>(page.pid), name);
  if (auto fit = check_file(directory->get(), name, page); !fit)
    return tl::unexpected(std::move(fit.error()));
  OwnedFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket) return unreachable(page, std::string("no socket can be had here: ") + std::strerror(errno));
  const timeval patience{kConnectSeconds, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const sockaddr_un address = address_in(directory->get(), name);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return cannot_connect(page, errno);
  if (auto fit = check_peer(socket.get(), page); !fit) return tl::unexpected(std::move(fit.error()));
  return ControlClient(std::move(socket), page);
}

Result<ControlAnswer> ControlClient::ask(wire::ControlRequest request, milliseconds patience) {
  if (!socket_) return unreachable(page_, "answered too late before; connect again");
  const auto gone = [this](std::string what) {
    socket_.reset();  // an answer that comes later must not be taken for the next one's
    return unreachable(page_, lives(page_) ? std::move(what) : "has ended meanwhile");
  };
  request.magic = wire::kControlMagic;
  request.version = wire::kControlVersion;
  request.pid = static_cast<std::uint32_t>(page_.pid);
  request.start_ticks = page_.start_ticks;
  // Where sending fails a last word may have come, so that one is read first.
  const bool sent = ::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) == sizeof request;
  if (!wait_for_answer(socket_.get(), sent ? patience : milliseconds(0)))
    return gone("did not answer within " + seconds_text(patience) +
                "; is it stopped or very busy? try --timeout");
  char bytes[sizeof(wire::ControlReply)];
  const ssize_t length = ::recv(socket_.get(), bytes, sizeof bytes, MSG_TRUNC);
  if (length <= 0) return gone(has_ended(page_) ? "has ended meanwhile" : "closed the connection; try again");
  wire::ControlReply reply;
  if (!wire::parse_control_reply(bytes, static_cast<std::size_t>(length), reply) ||
      (reply.verb != 0 && reply.verb != request.verb)) {
    socket_.reset();
    return fail(ErrorKind::kBadData, name_of(page_),
                "its answer is not one that this weir knows; use the weir that started it");
  }
  return answer_of(reply);
}

}  // namespace weir::ledger
