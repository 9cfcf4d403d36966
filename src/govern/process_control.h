#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "govern/act_log.h"
#include "govern/boundary_watch.h"
#include "govern/control_watch.h"
#include "govern/governor_thread.h"
#include "govern/i_acts.h"
#include "wire/agent_settings.h"

namespace weir::govern {

/// What acts on this process from its start to its end: the acts in their log, and the governor's thread with
/// its watches. Without a thread or a socket the process runs on under the limits that it has; that counts as
/// a trouble and costs one line. Made once and leaked.
class ProcessControl {
 public:
  struct Parts {
    std::unique_ptr<IActs> acts;
    const wire::AgentSettings& settings;
    const PageSlot& page;
    std::string folder;                           ///< Of the page; "": nobody may see it.
    std::function<std::uint64_t()> take_lacking;  ///< As Neighbourhood::take_lacking; may be empty.
    std::function<void()> count_trouble;
  };
  explicit ProcessControl(Parts parts);
  ProcessControl(const ProcessControl&) = delete;
  ProcessControl& operator=(const ProcessControl&) = delete;

  [[nodiscard]] ActLog& log() noexcept { return log_; }
  /// One more thing to wait for; before `start`, must outlive this, also in a fork's child.
  void add(IWatch& watch) { others_.push_back(&watch); }
  void start() noexcept;
  /// From any thread: the watches look now.
  void wake() noexcept { thread_.wake(); }

  /// Around a fork, before all other locks of govern.
  void before_fork() noexcept;
  void after_fork_in_parent() noexcept;
  /// Closes what it inherited. Where the child is governed, the next `start_in_child` starts it anew.
  void after_fork_in_child(bool goes_on) noexcept;
  /// At each call of MLX's allocator(): one load but in a fork's child, where the first call starts what the
  /// fork has ended.
  void start_in_child() noexcept {
    if (awaits_start_.load(std::memory_order_relaxed)) start_anew();
  }
  /// The end of the process: nothing acts any more, the socket goes.
  void end() noexcept;

 private:
  void start_anew() noexcept;
  void start_watches();
  void give_up(const char* why) noexcept;

  Parts parts_;
  ActLog log_;
  NeighboursNeed need_;
  ControlWatch control_;
  std::unique_ptr<BoundaryWatch> boundaries_;
  std::vector<IWatch*> others_;
  GovernorThread thread_;
  std::atomic<bool> awaits_start_{false};
};

}  // namespace weir::govern
