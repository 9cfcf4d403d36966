#pragma once

namespace weir::pool {

enum class ThreadKind {
  kCaller,  ///< Its outermost frames are the host's: an exception reaches somebody who asked.
  kWorker,  ///< Started by libmlx: an exception there would leave an array that reads wrong.
};

/// Which kind the calling thread is: found once per thread by walking its stack (about 50 µs; only refusals
/// ask), then remembered. A thread whose stack cannot be walked to its end is taken for a worker, because
/// granting too much is mended later and a wrong value never is.
[[nodiscard]] ThreadKind this_thread_kind() noexcept;

/// Fixes the answer for the calling thread, for tests.
void set_this_thread_kind(ThreadKind kind) noexcept;

}  // namespace weir::pool
