#pragma once

namespace weir {

/// SIGINT and SIGTERM set a flag instead of ending the process, so that long work stops between steps and its
/// owners clean up. A second signal ends at once. Installed by `main`; restored by the destructor.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

/// True once a signal has come. Async-signal-safe, lock-free.
[[nodiscard]] bool interrupt_requested() noexcept;

/// The signal that came (0: none): the exit code is 128 + this.
[[nodiscard]] int interrupt_signal() noexcept;

}  // namespace weir
