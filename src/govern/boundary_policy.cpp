#include "govern/boundary_policy.h"

#include <array>

namespace weir::govern {

using wire::ActCause;
using wire::ActKind;

namespace {

/// Under pressure, the cheapest first.
constexpr std::array kSteps = {ActKind::kTrimAged, ActKind::kTrim, ActKind::kReturn};
/// A step that gives less is followed by the next at once.
constexpr std::uint64_t kLeastStep = 2ULL << 20;
/// Looks come at least so many times within the idle time, so that it ends that much late at most.
constexpr std::uint64_t kLooksInIdle = 8;

}  // namespace

BoundaryRules boundary_rules(const wire::AgentSettings& settings) noexcept {
  if (settings.allocator == wire::Allocator::kMlx) return {};
  return {(settings.trim_at & wire::kTrimAtRequest) != 0, (settings.trim_at & wire::kTrimAtPhase) != 0,
          (settings.trim_at & wire::kTrimAtPressure) != 0, settings.idle_ms};
}

void BoundaryPolicy::observe(const BoundaryView& view) noexcept {
  note_flow(view);
  note_boundaries(view);
  floor_ = std::min(floor_, view.retained);
  if (rules_.pressure && view.pressed) {
    if (view.now_ms >= pressed_ms_ + kCalmMs) step_ = 0;
    pressed_ms_ = view.now_ms;
    pressed_ = view.now_ms >= quiet_until_ms_;
  }
  view_ = view;
}

void BoundaryPolicy::note_flow(const BoundaryView& view) noexcept {
  if (view.events != view_.events || view.clears != view_.clears) {
    last_event_ms_ = view.now_ms;
    rested_ = idle_done_ = false;
    look_ms_ = kLookMs;
  } else if (view.now_ms - looked_ms_ >= look_ms_) {
    const std::uint64_t longest = rules_.idle_ms == 0
                                      ? kLongestLookMs
                                      : std::clamp(rules_.idle_ms / kLooksInIdle, kLookMs, kLongestLookMs);
    look_ms_ = std::min(2 * look_ms_, longest);
  }
  looked_ms_ = view.now_ms;
}

void BoundaryPolicy::note_boundaries(const BoundaryView& view) noexcept {
  const bool marks = view.requests > 0 || view.phase != wire::Phase::kUnmarked;
  bool request = view.requests != view_.requests;
  if (!rested_ && view.now_ms - last_event_ms_ >= kRestMs) {
    rested_ = true;
    request = request || !marks;
  }
  const bool phase = view.phase != view_.phase || view.clears != view_.clears;
  if (rules_.phase && phase) due_ = ActCause::kPhase;
  if (rules_.request && request) due_ = ActCause::kRequestEnd;
}

bool BoundaryPolicy::is_ripe() const noexcept {
  const std::uint64_t worth = worth_trimming(view_.live);
  if (view_.retained < worth) return false;
  return view_.retained - floor_ >= worth || (found_little_ && view_.now_ms - trimmed_ms_ >= kAgedMs);
}

bool BoundaryPolicy::is_idle_due(std::uint64_t now_ms) const noexcept {
  return rules_.idle_ms > 0 && !idle_done_ && now_ms - last_event_ms_ >= rules_.idle_ms;
}

BoundaryAct BoundaryPolicy::next_step() noexcept {
  while (step_ + 1 < kSteps.size() && view_.retained < kLeastStep)
    ++step_;  // nothing is retained: only the heap may have something
  const ActKind kind = kSteps[step_];
  step_ = (step_ + 1) % kSteps.size();
  quiet_until_ms_ = view_.now_ms + (kind == kSteps.back() ? kCalmMs : kPressurePauseMs);
  return {kind, ActCause::kPressure, kind == ActKind::kTrimAged ? kPressedAgeMs : 0};
}

std::optional<BoundaryAct> BoundaryPolicy::next() noexcept {
  if (pressed_) {
    pressed_ = false;
    return next_step();
  }
  if (due_) {
    const ActCause cause = *due_;
    due_.reset();
    if (is_ripe()) {
      if (view_.ages) return BoundaryAct{ActKind::kTrimAged, cause, kAgedMs};
      return BoundaryAct{ActKind::kTrim, cause};
    }
  }
  if (!is_idle_due(view_.now_ms)) return std::nullopt;
  idle_done_ = true;
  return BoundaryAct{ActKind::kReturn, ActCause::kIdle};
}

void BoundaryPolicy::done(const BoundaryAct& act, std::uint64_t released,
                          std::uint64_t retained_after) noexcept {
  view_.retained = floor_ = retained_after;
  trimmed_ms_ = view_.now_ms;
  found_little_ = released < worth_trimming(view_.live);
  // The last step has none after it; the others give way when they found nothing.
  if (act.cause == ActCause::kPressure && act.kind != kSteps.back() && released < kLeastStep) pressed_ = true;
}

int BoundaryPolicy::patience_ms(std::uint64_t now_ms) const noexcept {
  if (!rules_.any()) return -1;
  const std::uint64_t since_look = now_ms - std::min(now_ms, looked_ms_);
  std::uint64_t wait = look_ms_ - std::min(look_ms_, since_look);
  if (rules_.idle_ms > 0 && !idle_done_) {
    const std::uint64_t idle = now_ms - std::min(now_ms, last_event_ms_);
    wait = std::min(wait, rules_.idle_ms - std::min(rules_.idle_ms, idle));
  }
  return static_cast<int>(wait);
}

}  // namespace weir::govern
