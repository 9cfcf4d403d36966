#pragma once

#include <poll.h>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "govern/control_socket.h"
#include "govern/i_watch.h"

namespace weir::govern {

/// The one thread of weir in a governed process, "weir governor": all signals blocked, a small stack. It
/// sleeps in poll() on what its watches wait for, and holds the waking lock whenever it does anything else,
/// so that a fork, and the end of the process, can find it at rest. Never destroyed once it has started.
class GovernorThread {
 public:
  GovernorThread() = default;
  GovernorThread(const GovernorThread&) = delete;
  GovernorThread& operator=(const GovernorThread&) = delete;

  /// False where no thread can be had. The watches must outlive it. Keeps errno and the caller's signal mask.
  [[nodiscard]] bool start(std::vector<IWatch*> watches) noexcept;
  /// Makes the thread look at its watches now. From any thread; a system call.
  void wake() noexcept;
  /// How often a watch has thrown; nothing is expected to.
  [[nodiscard]] std::uint64_t troubles() const noexcept { return troubles_.load(std::memory_order_relaxed); }

  /// Around a fork: waits until the thread is at rest. After `end` these do nothing.
  void lock_for_fork() noexcept;
  void unlock_after_fork() noexcept;
  /// In a fork's child, after `unlock_after_fork`: the thread is not there, `start` may be called again.
  void leave() noexcept;
  /// The end of the process: from now on no watch is called. Waits for one that is busy, at most two seconds.
  void end() noexcept;

 private:
  static void* run(void* self) noexcept;
  void turn();
  /// What to wait for, and for how long.
  int prepare();
  void hear_bell() noexcept;
  void call_watches() noexcept;

  std::vector<IWatch*> watches_;
  std::vector<pollfd> descriptors_;
  std::mutex waking_;
  std::atomic<bool> ended_{false};
  bool fork_locked_ = false;  // Written by the forking thread, under the lock.
  GuestSocket bell_;          // An eventfd; without it `wake` waits for the next turn.
  std::atomic<std::uint64_t> troubles_{0};
};

/// CLOCK_MONOTONIC in milliseconds: what watches are told.
[[nodiscard]] std::uint64_t governor_now_ms() noexcept;

}  // namespace weir::govern
