#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "govern/act_log.h"
#include "govern/boundary_policy.h"
#include "govern/i_watch.h"
#include "govern/pressure.h"
#include "wire/agent_settings.h"

namespace weir::govern {

/// How a process helps its neighbours and is helped. Both may be empty.
struct Neighbourhood {
  /// The largest allocation since the last call that the kernel, not the hard cap, refused; 0: none.
  std::function<std::uint64_t()> take_lacking;
  /// Asks the other governed processes for so many bytes; takes seconds at most.
  std::function<void(std::uint64_t bytes)> ask;
};

/// Gives memory back at boundaries (boundary_policy.h), each act through the log with its cause. It looks at
/// the page, which costs some loads: every 200 ms while events flow, and less and less often, down to every 5
/// s, while none do. A process whose kernel has no more asks its neighbours, once in 10 s at most.
class BoundaryWatch final : public IWatch {
 public:
  static constexpr std::uint64_t kAskPauseMs = 10'000;
  static constexpr std::uint64_t kNeedPauseMs = 1'000;

  /// `log` and `page` must outlive this.
  BoundaryWatch(ActLog& log, const PageSlot& page, const BoundaryRules& rules, PressureSources pressure,
                Neighbourhood neighbourhood);

  void add_descriptors(std::vector<pollfd>& into) override;
  [[nodiscard]] int patience_ms(std::uint64_t now_ms) override;
  void wake(std::uint64_t now_ms, const std::vector<pollfd>& ready) override;

 private:
  [[nodiscard]] BoundaryView view(std::uint64_t now_ms) const noexcept;
  void ask_neighbours(std::uint64_t now_ms);

  ActLog& log_;
  const PageSlot& page_;
  BoundaryRules rules_;
  BoundaryPolicy policy_;
  PressureSources pressure_;
  Neighbourhood neighbourhood_;
  std::uint64_t lacking_ = 0;
  std::optional<std::uint64_t> asked_ms_;
};

/// Answers a neighbour's need (Verb::kNeed) for one process. Not thread-safe.
class NeighboursNeed {
 public:
  NeighboursNeed(ActLog& log, const wire::AgentSettings& settings) noexcept
      : log_(log), willing_(boundary_rules(settings).pressure) {}

  /// What has aged (60 s, 10 s, 1 s), then everything retained, then the heap's free pages, until `bytes` are
  /// given back. kRefused where the settings have no `pressure`; kBusy within a second of the last need.
  [[nodiscard]] Effect give(std::uint64_t bytes, std::uint64_t now_ms);

 private:
  ActLog& log_;
  bool willing_;
  std::optional<std::uint64_t> gave_ms_;
};

/// For the governor's thread of this process; nullptr where no boundary is on. `pages_folder` "": there are
/// no neighbours. In a fork's child another one is made.
[[nodiscard]] std::unique_ptr<BoundaryWatch> watch_boundaries(ActLog& log, const PageSlot& page,
                                                              const wire::AgentSettings& settings,
                                                              const char* pages_folder,
                                                              std::function<std::uint64_t()> take_lacking);

}  // namespace weir::govern
