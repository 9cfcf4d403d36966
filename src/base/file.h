#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned_fd.h"

namespace weir {

/// The error of the last failed system call on `path`: missing files and refused permissions are
/// kEnvironment, a full disk is kNoRoom. `action` reads as "cannot <action>".
[[nodiscard]] Error system_error(const std::filesystem::path& path, std::string_view action, int errno_value);

/// A regular file opened for reading at offsets. Never writes, never maps. Immutable after open: threads may
/// share it.
class ReadOnlyFile {
 public:
  /// A missing file is kEnvironment; a folder, socket or device is kBadData.
  [[nodiscard]] static Result<ReadOnlyFile> open(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }
  /// Fills `out` with `count` bytes from `offset`; a short file is kBadData.
  [[nodiscard]] Result<void> read_at(std::uint64_t offset, void* out, std::size_t count) const;
  /// Tells the kernel that the page cache of this file will not be read again.
  void forget_pages() const noexcept;

 private:
  ReadOnlyFile(OwnedFd fd, std::filesystem::path path, std::uint64_t size_bytes)
      : fd_(std::move(fd)), path_(std::move(path)), size_bytes_(size_bytes) {}

  OwnedFd fd_;
  std::filesystem::path path_;
  std::uint64_t size_bytes_;
};

/// The whole file as bytes; refuses more than `limit_bytes`. Works on /proc and cgroup files, whose size
/// reads 0.
[[nodiscard]] Result<std::string> read_text(const std::filesystem::path& path,
                                            std::size_t limit_bytes = 64u << 20);

/// Writes beside the target, syncs, then renames: readers see the old file or the whole new one, never a
/// part. The file gets `mode`. Nothing is left behind on failure.
[[nodiscard]] Result<void> write_atomically(const std::filesystem::path& path, std::string_view content,
                                            unsigned mode = 0600);

}  // namespace weir
