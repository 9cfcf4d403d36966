#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "wire/agent_settings.h"
#include "wire/counters_page.h"

namespace weir::govern {

/// Boundaries at which this process gives memory back by itself.
struct BoundaryRules {
  bool request = false, phase = false, pressure = false;
  std::uint64_t idle_ms = 0;  ///< 0: never.

  [[nodiscard]] bool any() const noexcept { return request || phase || pressure || idle_ms > 0; }
};

/// As the settings say; none under `mlx`, where only MLX's own callers may trim.
[[nodiscard]] BoundaryRules boundary_rules(const wire::AgentSettings& settings) noexcept;

/// The process at one moment, as its page tells.
struct BoundaryView {
  std::uint64_t now_ms = 0;    ///< Of a clock that never goes back.
  std::uint64_t events = 0;    ///< Allocations and frees so far.
  std::uint64_t requests = 0;  ///< Ended, of a program that marks them.
  std::uint64_t clears = 0;    ///< The program's own clear_cache, so far.
  wire::Phase phase = wire::Phase::kUnmarked;
  std::uint64_t live = 0, retained = 0;
  bool ages = true;      ///< The allocator tells old bytes from new ones; `mlx-policy` does not.
  bool pressed = false;  ///< The kernel said since the last look that memory runs short.
};

/// What is to be done now.
struct BoundaryAct {
  wire::ActKind kind;
  wire::ActCause cause;
  std::uint64_t age_ms = 0;  ///< Of kTrimAged.

  bool operator==(const BoundaryAct&) const = default;
};

/// Bytes below which a trim at a boundary is not worth its faults.
[[nodiscard]] constexpr std::uint64_t worth_trimming(std::uint64_t live) noexcept {
  constexpr std::uint64_t kLeast = 16ULL << 20;
  return std::max(kLeast, live / 20);
}

/// When to give back, and what: a pure state machine, no system call, no clock; same views, same acts.
///   request, phase  what has been free for kAgedMs; only when at least worth_trimming(live) is retained, and
///                   not again before so much has come on top of what the last trim left. A trim that found
///                   too little of that age may be tried again once as much time has passed.
///   idle            everything with the heap's free pages, once, idle_ms after the last event
///   pressure        one step for each signal: what has aged, then everything retained, then the heap's free
///                   pages; kPressurePauseMs apart, and kCalmMs after the last step
/// A program that marks nothing ends a request by a rest of kRestMs and a phase by its own clear_cache.
///
/// For each look: observe, then `next` until it has nothing more, `done` after each act.
class BoundaryPolicy {
 public:
  static constexpr std::uint64_t kLookMs = 200;           ///< Between two looks while events flow.
  static constexpr std::uint64_t kLongestLookMs = 5'000;  ///< And while none do.
  static constexpr std::uint64_t kRestMs = 200;
  static constexpr std::uint64_t kAgedMs = 5'000;
  static constexpr std::uint64_t kPressedAgeMs = 1'000;
  static constexpr std::uint64_t kPressurePauseMs = 2'000;
  static constexpr std::uint64_t kCalmMs = 30'000;

  explicit BoundaryPolicy(const BoundaryRules& rules) noexcept : rules_(rules) {}

  void observe(const BoundaryView& view) noexcept;
  [[nodiscard]] std::optional<BoundaryAct> next() noexcept;
  /// What came of it; what was refused released nothing.
  void done(const BoundaryAct& act, std::uint64_t released, std::uint64_t retained_after) noexcept;
  /// How long nothing needs to be looked at.
  [[nodiscard]] int patience_ms(std::uint64_t now_ms) const noexcept;

 private:
  void note_flow(const BoundaryView& view) noexcept;
  void note_boundaries(const BoundaryView& view) noexcept;
  [[nodiscard]] bool is_idle_due(std::uint64_t now_ms) const noexcept;
  [[nodiscard]] bool is_ripe() const noexcept;
  [[nodiscard]] BoundaryAct next_step() noexcept;

  BoundaryRules rules_;
  BoundaryView view_;
  std::uint64_t last_event_ms_ = 0;
  std::uint64_t looked_ms_ = 0;
  std::uint64_t look_ms_ = kLookMs;
  bool rested_ = true;     // since the last event, so that one rest is one request
  bool idle_done_ = true;  // since the last event
  std::optional<wire::ActCause> due_;
  std::uint64_t floor_ = 0;  // retained after the last trim
  bool found_little_ = false;
  std::uint64_t trimmed_ms_ = 0;
  bool pressed_ = false;
  unsigned step_ = 0;
  std::uint64_t pressed_ms_ = 0, quiet_until_ms_ = 0;
};

}  // namespace weir::govern
