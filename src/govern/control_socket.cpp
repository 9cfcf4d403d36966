#include "govern/control_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <utility>

#include "base/owned_fd.h"
#include "wire/kept_errno.h"
#include "wire/page_file.h"

namespace weir::govern {
namespace {

constexpr int kBacklog = 32;
constexpr int kFirstOwnDescriptor = 3;

OwnedFd open_folder(const std::string& folder) noexcept {
  if (folder.empty()) return {};
  return OwnedFd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

template <class T>
bool holds(int file, std::size_t offset, const std::atomic<T>& value) noexcept {
  T read{};
  return ::pread(file, &read, sizeof read, static_cast<off_t>(offset)) == sizeof read &&
         read == value.load(std::memory_order_relaxed);
}

/// Whether the folder shows the page of this process: else nobody could tell whose the socket is. Another
/// process may have the same number in another pid namespace.
bool shows_page(int folder, const wire::CountersPage& page) noexcept {
  char name[wire::kPageNameBytes];
  wire::print_page_name(page.run.load(), page.pid.load(), name);
  const OwnedFd file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  using Page = wire::CountersPage;
  return file && holds(file.get(), offsetof(Page, magic), page.magic) &&
         holds(file.get(), offsetof(Page, start_ticks), page.start_ticks) &&
         holds(file.get(), offsetof(Page, started_ns), page.started_ns) &&
         holds(file.get(), offsetof(Page, pid_namespace), page.pid_namespace);
}

/// An address holds 108 bytes and a folder's path may be longer, so the way goes through its descriptor.
bool print_address(int folder, const char* name, sockaddr_un& address) noexcept {
  address = {};
  address.sun_family = AF_UNIX;
  const int length =
      std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", folder, name);
  return length > 0 && static_cast<std::size_t>(length) < sizeof address.sun_path;
}

}  // namespace

GuestSocket::GuestSocket(int fd) noexcept {
  if (fd < 0) return;
  if (fd < kFirstOwnDescriptor) {
    const int moved = ::fcntl(fd, F_DUPFD_CLOEXEC, kFirstOwnDescriptor);
    ::close(fd);
    fd = moved;
  }
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) return;
  fd_ = fd;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

GuestSocket::GuestSocket(GuestSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), device_(other.device_), inode_(other.inode_) {}

GuestSocket& GuestSocket::operator=(GuestSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  fd_ = std::exchange(other.fd_, -1);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

bool GuestSocket::is_ours() const noexcept {
  struct stat status {};
  return fd_ >= 0 && ::fstat(fd_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

void GuestSocket::close() noexcept {
  if (is_ours()) ::close(fd_);
  fd_ = -1;
}

bool is_allowed_peer(int connection) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

const char* ControlSocket::open(const std::string& folder, const wire::CountersPage& page) noexcept {
  const wire::KeptErrno kept;
  const OwnedFd directory = open_folder(folder);
  if (!directory || !shows_page(directory.get(), page)) return nullptr;
  try {
    folder_ = folder;
  } catch (const std::exception&) {
    return "no memory";
  }
  return bind_in(directory.get(), page);
}

const char* ControlSocket::bind_in(int folder, const wire::CountersPage& page) noexcept {
  GuestSocket made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) return "no socket can be had";
  wire::print_socket_name(page.run.load(), page.pid.load(), name_);
  sockaddr_un address;
  if (!print_address(folder, name_, address)) return "the name of its file is too long";
  if (::unlinkat(folder, name_, 0) != 0 && errno != ENOENT) return "another file has its name";
  ::fchmod(made.get(), 0600);  // before anybody can see the file
  if (::bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return "its file cannot be made in the folder for pages";
  struct stat status {};
  const bool stands = ::fchmodat(folder, name_, 0600, 0) == 0 &&  // whatever the umask took
                      ::fstatat(folder, name_, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      ::listen(made.get(), kBacklog) == 0;
  if (!stands) {
    ::unlinkat(folder, name_, 0);
    return "it cannot be listened to";
  }
  file_device_ = status.st_dev;
  file_inode_ = status.st_ino;
  listening_ = std::move(made);
  return nullptr;
}

void ControlSocket::remove() noexcept {
  const wire::KeptErrno kept;
  if (file_inode_ == 0) return;
  const OwnedFd folder = open_folder(folder_);
  struct stat status {};
  if (folder && ::fstatat(folder.get(), name_, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
      status.st_dev == file_device_ && status.st_ino == file_inode_)
    ::unlinkat(folder.get(), name_, 0);
  file_inode_ = 0;
}

void ControlSocket::leave() noexcept {
  const wire::KeptErrno kept;
  listening_.close();
  file_inode_ = 0;
}

}  // namespace weir::govern
