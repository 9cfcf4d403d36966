#pragma once

#include <sys/types.h>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/owned_fd.h"

namespace weir {

/// How a child ended: an exit code, or 128 + signal as a shell shows it.
struct ChildExit {
  int code = 0;
  bool by_signal = false;
};

/// What to start. `environment` replaces ours entirely where given ("NAME=value"); stderr is inherited.
struct ChildSpec {
  std::vector<std::string> argv;  ///< argv[0] is a path, or a name found on PATH.
  std::optional<std::vector<std::string>> environment;
};

/// A child with pipes on its stdin and stdout, started without a shell. The destructor kills it and waits:
/// nothing outlives its owner, also when the owner dies (PR_SET_PDEATHSIG). Not thread-safe.
class ChildProcess {
 public:
  /// A program that cannot be executed is kEnvironment.
  [[nodiscard]] static Result<ChildProcess> start(const ChildSpec& spec);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Writes the line and a newline. A child that has closed its stdin is kEnvironment; never raises SIGPIPE.
  [[nodiscard]] Result<void> write_line(std::string_view line);
  /// The next line without its newline; nullopt at the end of the stream. Waits at most `limit`, then
  /// kEnvironment. A line over 16 MiB is kBadData. Returns early with kEnvironment when an interrupt was
  /// asked for (interrupt.h).
  [[nodiscard]] Result<std::optional<std::string>> read_line(std::chrono::milliseconds limit);
  /// Closes the child's stdin, waits up to `limit`, then kills. Idempotent.
  ChildExit finish(std::chrono::milliseconds limit);

 private:
  ChildProcess(pid_t pid, OwnedFd to_child, OwnedFd from_child)
      : pid_(pid), to_child_(std::move(to_child)), from_child_(std::move(from_child)) {}

  pid_t pid_ = -1;
  OwnedFd to_child_;
  OwnedFd from_child_;
  std::string pending_;
  std::optional<ChildExit> exit_;
};

/// Absolute path of the running executable. Throws Failure (kEnvironment) where there is no /proc.
[[nodiscard]] std::string own_executable();

}  // namespace weir
