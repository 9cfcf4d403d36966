#pragma once

#include <string>

#include "govern/pool_limits.h"
#include "wire/agent_settings.h"

namespace weir::govern {

/// The counters page of this process from its start to its end. Made once and leaked: threads may count until
/// the very end. Not thread-safe but for `slot`.
class ProcessPage {
 public:
  /// A folder that cannot be used leaves a page that nobody else sees, and under a `weir run`, whose summary
  /// then misses it, costs one line on stderr.
  ProcessPage(const wire::AgentSettings& settings, const char* library, const char* folder);
  ProcessPage(const ProcessPage&) = delete;
  ProcessPage& operator=(const ProcessPage&) = delete;
  ~ProcessPage();

  /// Of the one that was made last and lives; null where there is none. Thread-safe.
  [[nodiscard]] static const PageSlot* current() noexcept;
  [[nodiscard]] const PageSlot& slot() const noexcept { return slot_; }
  void set_state(wire::PageState state) noexcept;
  /// In a fork's child: another page, in the folder or (not `visible`) for nobody. Returns the parent's, to
  /// be left when nothing of this process writes it any more. No heap.
  [[nodiscard]] wire::CountersPage* renew_after_fork(bool visible) noexcept;
  /// The end: marks it as exited. The file stays for the `weir run` that started this, else it goes.
  void end() noexcept;

 private:
  PageSlot slot_{nullptr};
  std::string library_, folder_;
  std::uint64_t run_;
};

/// One line on stderr, "weir: TEXT". Never fails and keeps errno.
void print_line(const char* text) noexcept;

}  // namespace weir::govern
