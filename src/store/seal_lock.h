#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/owned_fd.h"

namespace weir::store {

/// Held while one process runs a plan, so that a second one on the same seal is refused. A flock on
/// `<state folder>/locks/<seal>.lock`: the kernel drops it when the holder dies, however it dies.
/// Released by the destructor, which also removes the file. Children started by exec do not keep it.
class SealLock {
 public:
  /// kEnvironment "is being run by pid N" when another holder (also in this process) has it. Makes missing
  /// folders (0700). `seal` must be hexadecimal digits: anything else is kInternal.
  [[nodiscard]] static Result<SealLock> acquire(const std::filesystem::path& state_folder,
                                                std::string_view seal);
  SealLock(SealLock&&) noexcept = default;
  SealLock& operator=(SealLock&&) = delete;
  ~SealLock();

 private:
  SealLock(OwnedFd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  OwnedFd fd_;
  std::filesystem::path path_;
};

}  // namespace weir::store
