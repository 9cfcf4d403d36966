#include "base/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

namespace weir {

Error system_error(const std::filesystem::path& path, std::string_view action, int errno_value) {
  const bool full = errno_value == ENOSPC || errno_value == EDQUOT || errno_value == ENOMEM;
  std::string message = "cannot " + std::string(action) + ": " + std::strerror(errno_value);
  if (full) message += "; free some space there or name another place";
  return {full ? ErrorKind::kNoRoom : ErrorKind::kEnvironment, path.string(), message};
}

namespace {

struct OpenedFile {
  OwnedFd fd;
  std::uint64_t size_bytes;
};

/// Opens without waiting: a pipe without a writer is refused like every other thing that is no regular file.
Result<OpenedFile> open_regular(const std::filesystem::path& path) {
  OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return tl::unexpected(system_error(path, "open", errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return tl::unexpected(system_error(path, "stat", errno));
  if (!S_ISREG(status.st_mode)) return fail(ErrorKind::kBadData, path.string(), "not a regular file");
  return OpenedFile{std::move(fd), static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace

Result<ReadOnlyFile> ReadOnlyFile::open(const std::filesystem::path& path) {
  auto file = open_regular(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  return ReadOnlyFile(std::move(file->fd), path, file->size_bytes);
}

Result<void> ReadOnlyFile::read_at(std::uint64_t offset, void* out, std::size_t count) const {
  auto* to = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(fd_.get(), to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(path_, "read", errno));
    if (got == 0)
      return fail(
          ErrorKind::kBadData, path_.string(),
          "ends early: " + std::to_string(count) + " bytes missing at offset " + std::to_string(offset));
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::size_t>(got);
  }
  return {};
}

void ReadOnlyFile::forget_pages() const noexcept {
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED);
}

Result<std::string> read_text(const std::filesystem::path& path, std::size_t limit_bytes) {
  auto file = open_regular(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  std::string text;
  char part[16384];
  for (;;) {
    const ssize_t got = ::read(file->fd.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(path, "read", errno));
    if (got == 0) return text;
    if (text.size() + static_cast<std::size_t>(got) > limit_bytes)
      return fail(ErrorKind::kBadData, path.string(),
                  "larger than " + std::to_string(limit_bytes) + " bytes");
    text.append(part, static_cast<std::size_t>(got));
  }
}

namespace {

Result<void> write_all(int fd, const std::filesystem::path& path, std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return tl::unexpected(system_error(path, "write", errno));
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  if (::fsync(fd) != 0) return tl::unexpected(system_error(path, "write", errno));
  return {};
}

}  // namespace

Result<void> write_atomically(const std::filesystem::path& path, std::string_view content, unsigned mode) {
  // A name of its own: the target's may be as long as names can be.
  std::string temporary = (path.parent_path() / ".weir.XXXXXX").string();
  OwnedFd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd) return tl::unexpected(system_error(path, "write", errno));
  Result<void> written = write_all(fd.get(), path, content);
  if (written && ::fchmod(fd.get(), mode) != 0) written = tl::unexpected(system_error(path, "write", errno));
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = tl::unexpected(system_error(path, "write", errno));
  if (!written) ::unlink(temporary.c_str());
  return written;
}

}  // namespace weir
