#include "store/seal_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "store/state_dir.h"

namespace weir::store {
namespace {

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  });
}

/// "pid 123", or "another process" where the holder has not written it yet.
std::string holder(int fd) {
  char text[32] = {};
  const ssize_t got = ::pread(fd, text, sizeof text - 1, 0);
  std::string digits(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  digits.erase(std::find_if(digits.begin(), digits.end(), [](char c) { return c < '0' || c > '9'; }),
               digits.end());
  return digits.empty() ? "another process" : "pid " + digits;
}

void write_own_pid(int fd) {
  const std::string text = std::to_string(::getpid()) + "\n";
  // On a full disk the lock still holds; only the message of a refusal loses the number.
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

Result<SealLock> SealLock::acquire(const std::filesystem::path& state_folder, std::string_view seal) {
  if (!is_hexadecimal(seal))
    return fail(ErrorKind::kInternal, "seal", "not hexadecimal: '" + std::string(seal) + "'");
  const auto folder = state_folder / "locks";
  if (auto made = make_private_folders(folder); !made) return tl::unexpected(made.error());
  const auto path = folder / (std::string(seal) + ".lock");
  for (;;) {
    OwnedFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!fd) {
      Error error = system_error(path, "lock the plan", errno);
      if (error.kind == ErrorKind::kEnvironment)
        error.message += "; set WEIR_STATE_DIR to a folder that can be written";
      return tl::unexpected(std::move(error));
    }
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return tl::unexpected(system_error(path, "lock the plan", errno));
      return fail(ErrorKind::kEnvironment, "plan " + std::string(seal.substr(0, 8)),
                  "is being run by " + holder(fd.get()) + "; wait for it, or start another plan with --new");
    }
    // The last holder may have removed the file between our open and our lock: then the lock is on nothing.
    struct stat status {};
    if (::fstat(fd.get(), &status) == 0 && status.st_nlink == 0) continue;
    write_own_pid(fd.get());
    return SealLock(std::move(fd), path);
  }
}

SealLock::~SealLock() {
  if (fd_) ::unlink(path_.c_str());  // While still locked, so that no second holder can be on the same name.
}

}  // namespace weir::store
