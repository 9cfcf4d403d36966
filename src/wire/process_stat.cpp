#include "wire/process_stat.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include "wire/decimal.h"

namespace weir::wire {
namespace {

constexpr int kStateField = 3;
constexpr int kStartField = 22;

/// "/proc/PID/stat" or "/proc/self/stat".
void print_path(pid_t pid, char (&path)[64]) noexcept {
  std::size_t length = 6;
  std::memcpy(path, "/proc/", length);
  if (pid > 0) {
    length += print_decimal(static_cast<std::uint64_t>(pid), path + length);
  } else {
    std::memcpy(path + length, "self", 4);
    length += 4;
  }
  std::memcpy(path + length, "/stat", 6);
}

std::size_t read_some(int fd, char* text, std::size_t room) noexcept {
  std::size_t size = 0;
  while (size < room) {
    const ssize_t got = ::read(fd, text + size, room - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

}  // namespace

bool parse_process_stat(const char* text, std::size_t length, ProcessStat& into) noexcept {
  const char* end = text + length;
  ProcessStat stat;
  std::uint64_t pid = 0;
  const char* at = take_decimal(text, end, pid);
  if (at == nullptr || pid > 0x7fffffff || end - at < 2 || at[0] != ' ' || at[1] != '(') return false;
  stat.pid = static_cast<std::uint32_t>(pid);
  const char* closing = nullptr;  // the last one: the name may hold any of them
  for (const char* one = at + 2; one < end; ++one)
    if (*one == ')') closing = one;
  if (closing == nullptr || end - closing < 3 || closing[1] != ' ') return false;
  at = closing + 2;
  stat.state = *at;
  for (int field = kStateField; field < kStartField; ++field) {
    while (at < end && *at != ' ')
      ++at;
    if (at == end) return false;
    ++at;
  }
  if (take_decimal(at, end, stat.start_ticks) == nullptr) return false;
  into = stat;
  return true;
}

bool read_process_stat(pid_t pid, ProcessStat& into) noexcept {
  char path[64];
  print_path(pid, path);
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char text[1024];
  const std::size_t size = read_some(fd, text, sizeof text);
  ::close(fd);
  return parse_process_stat(text, size, into);
}

bool is_alive(pid_t pid, std::uint64_t start_ticks) noexcept {
  ProcessStat stat;
  if (!read_process_stat(pid, stat) || stat.is_dead()) return false;
  return start_ticks == 0 || start_ticks == stat.start_ticks;
}

std::uint64_t own_pid_namespace() noexcept {
  struct stat status {};
  return ::stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace weir::wire
