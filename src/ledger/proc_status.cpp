#include "ledger/proc_status.h"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <limits>

#include "base/file.h"
#include "base/owned_fd.h"

namespace weir::ledger {
namespace {

constexpr std::int64_t kBytesPerKilobyte = 1024;
/// Every single counter stays below this, so that sums of a few cannot overflow.
constexpr std::int64_t kLargestCounter = std::numeric_limits<std::int64_t>::max() / 8;

std::optional<std::int64_t> kilobytes(std::string_view value) {
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t'))
    value.remove_prefix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || number < 0) return std::nullopt;
  if (std::string_view(end, value.data() + value.size()) != " kB") return std::nullopt;
  if (number > std::numeric_limits<std::int64_t>::max() / kBytesPerKilobyte) return std::nullopt;
  return number * kBytesPerKilobyte;
}

}  // namespace

std::optional<std::int64_t> kilobyte_line(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ':')
      return kilobytes(line.substr(key.size() + 1));
  }
  return std::nullopt;
}

Result<ProcStatus> parse_status(std::string_view text) {
  ProcStatus status;
  const std::pair<std::string_view, std::int64_t*> lines[] = {{"RssAnon", &status.anonymous},
                                                              {"RssFile", &status.file},
                                                              {"RssShmem", &status.shared},
                                                              {"VmSwap", &status.swap},
                                                              {"VmHWM", &status.high_water}};
  for (const auto& [key, value] : lines) {
    const std::optional<std::int64_t> bytes = kilobyte_line(text, key);
    if (!bytes || *bytes > kLargestCounter)
      return fail(
          ErrorKind::kBadData, "/proc/self/status",
          "no usable line '" + std::string(key) + ": <number> kB'; weir needs Linux 4.5 or newer with /proc");
    *value = *bytes;
  }
  return status;
}

namespace {

Result<ProcStatus> read_status(const std::filesystem::path& path) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(system_error(path, "open", errno));
  char text[4096];
  std::size_t size = 0;
  while (size < sizeof text) {
    const ssize_t got = ::read(fd.get(), text + size, sizeof text - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(path, "read", errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return parse_status({text, size});
}

}  // namespace

Result<ProcStatus> read_own_status(const std::filesystem::path& root) {
  return read_status(root / "proc/self/status");
}

Result<ProcStatus> read_process_status(pid_t pid) {
  return read_status("/proc/" + std::to_string(pid) + "/status");
}

}  // namespace weir::ledger
