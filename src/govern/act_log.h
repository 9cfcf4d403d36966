#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "govern/i_acts.h"
#include "govern/pool_limits.h"
#include "wire/counters_page.h"

namespace weir::govern {

/// Every act goes through here: one at a time, under the governor's lock, and into the page with its effect
/// (footprint and retained bytes before and after). Thread-safe; nothing is thrown.
class ActLog {
 public:
  /// Both must outlive this.
  ActLog(IActs& acts, const PageSlot& page) noexcept : acts_(acts), page_(page) {}

  /// What is done, why, and with which argument (Act::argument).
  struct What {
    wire::ActKind kind;
    wire::ActCause cause;
    std::uint64_t argument = 0;
  };
  /// Does it and notes it in the page; an act that was refused or is pending is not noted.
  Effect perform(const What& what, const std::function<Effect(IActs&)>& act) noexcept;

  /// The governor's lock, for what only reads.
  template <class Read>
  auto read(Read&& what) {
    const std::lock_guard lock(mutex_);
    return what(acts_);
  }

  /// Around a fork, so that a child finds the lock free.
  void lock_for_fork() { mutex_.lock(); }
  void unlock_after_fork() { mutex_.unlock(); }

 private:
  IActs& acts_;
  const PageSlot& page_;
  std::mutex mutex_;
};

}  // namespace weir::govern
