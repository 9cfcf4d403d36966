#pragma once

#include <sys/types.h>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.h"
#include "base/error.h"

namespace weir {

/// What to start in our place.
struct ForegroundSpec {
  std::string program;                   ///< A path, already looked up.
  std::vector<std::string> argv;         ///< argv[0] as the user wrote it.
  std::vector<std::string> environment;  ///< "NAME=value"; all of it.
};

/// A child that runs as if its user had started it without us: it inherits stdin, stdout, stderr, the
/// terminal, the process group, the signal mask and the ignored signals. One at a time, for the main thread.
///   signals   SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1 and SIGUSR2 that another process sends to us are
///             passed on; those of the terminal reach the child by themselves. None ends us.
///   stop      a child that the terminal stops, or that stops itself with SIGTSTP, takes us along, so that
///             the shell sees it; SIGCONT wakes both
///   its life  is its own: our death does not end it. The destructor waits for it.
class ForegroundChild {
 public:
  /// A program that cannot be executed is kEnvironment.
  [[nodiscard]] static Result<ForegroundChild> start(const ForegroundSpec& spec);
  ForegroundChild(ForegroundChild&& other) noexcept;
  ForegroundChild& operator=(ForegroundChild&&) = delete;
  ~ForegroundChild();

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// How it ended; nullopt when `limit` has passed first. Passes signals on meanwhile.
  [[nodiscard]] std::optional<ChildExit> wait(std::chrono::milliseconds limit);

 private:
  class Signals;
  ForegroundChild(pid_t pid, std::unique_ptr<Signals> signals) noexcept;
  bool look();

  pid_t pid_;
  std::unique_ptr<Signals> signals_;
  std::optional<ChildExit> exit_;
};

}  // namespace weir
