#include "govern/boundary_watch.h"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "ledger/neighbours.h"

namespace weir::govern {
namespace {

using wire::ActCause;
using wire::ActKind;

constexpr auto kRelaxed = std::memory_order_relaxed;
/// A policy that never ends its acts would be our bug; the governed process must not pay for it.
constexpr int kMostActs = 8;

Effect perform(ActLog& log, const BoundaryAct& act) noexcept {
  const ActLog::What what{act.kind, act.cause, act.age_ms};
  return log.perform(what, [&act](IActs& acts) {
    switch (act.kind) {
      case ActKind::kTrimAged:
        return acts.trim_aged(act.age_ms);
      case ActKind::kReturn:
        return acts.give_back();
      default:
        return acts.trim();
    }
  });
}

std::uint64_t released(const Effect& effect) noexcept {
  if (effect.status != wire::ControlStatus::kDone) return 0;
  return effect.released + effect.heap_released + effect.driver_released;
}

/// For a neighbour, the cheapest first.
constexpr std::array kGifts = {
    BoundaryAct{ActKind::kTrimAged, ActCause::kNeighbour, 60'000},
    BoundaryAct{ActKind::kTrimAged, ActCause::kNeighbour, 10'000},
    BoundaryAct{ActKind::kTrimAged, ActCause::kNeighbour, 1'000},
    BoundaryAct{ActKind::kTrim, ActCause::kNeighbour},
    BoundaryAct{ActKind::kReturn, ActCause::kNeighbour},
};

void ask_in(const std::string& folder, std::uint64_t bytes) {
  ledger::NeedOptions options;
  options.except = ::getpid();
  options.each = std::chrono::milliseconds(200);
  options.together = std::chrono::milliseconds(500);  // a fork of this process waits for it
  constexpr std::uint64_t kMost = 1ULL << 57;
  (void)ledger::ask_neighbours(folder, static_cast<std::int64_t>(std::min(bytes, kMost)), options);
}

}  // namespace

BoundaryWatch::BoundaryWatch(ActLog& log, const PageSlot& page, const BoundaryRules& rules,
                             PressureSources pressure, Neighbourhood neighbourhood)
    : log_(log),
      page_(page),
      rules_(rules),
      policy_(rules),
      pressure_(std::move(pressure)),
      neighbourhood_(std::move(neighbourhood)) {}

void BoundaryWatch::add_descriptors(std::vector<pollfd>& into) {
  if (rules_.pressure) pressure_.add_descriptors(into);
}

int BoundaryWatch::patience_ms(std::uint64_t now_ms) {
  return policy_.patience_ms(now_ms);
}

BoundaryView BoundaryWatch::view(std::uint64_t now_ms) const noexcept {
  const wire::CountersPage& page = *page_.load();
  BoundaryView seen;
  seen.now_ms = now_ms;
  seen.events = page.allocations.load(kRelaxed) + page.frees.load(kRelaxed);
  seen.requests = page.requests.load(kRelaxed);
  seen.clears = page.host_clears.load(kRelaxed);
  seen.phase = static_cast<wire::Phase>(page.phase.load(kRelaxed));
  seen.live = page.live.load(kRelaxed);
  seen.retained = page.retained.load(kRelaxed);
  seen.ages = page.allocator.load(kRelaxed) == static_cast<std::uint32_t>(wire::Allocator::kWeir);
  return seen;
}

void BoundaryWatch::wake(std::uint64_t now_ms, const std::vector<pollfd>& ready) {
  BoundaryView seen = view(now_ms);
  seen.pressed = rules_.pressure && pressure_.take(ready);
  policy_.observe(seen);
  for (int count = 0; count < kMostActs; ++count) {
    const auto act = policy_.next();
    if (!act) break;
    const Effect effect = perform(log_, *act);
    policy_.done(*act, released(effect), page_.load()->retained.load(kRelaxed));
  }
  ask_neighbours(now_ms);
}

void BoundaryWatch::ask_neighbours(std::uint64_t now_ms) {
  if (!rules_.pressure || !neighbourhood_.take_lacking || !neighbourhood_.ask) return;
  lacking_ = std::max(lacking_, neighbourhood_.take_lacking());
  if (lacking_ == 0 || (asked_ms_ && now_ms - *asked_ms_ < kAskPauseMs)) return;
  asked_ms_ = now_ms;
  neighbourhood_.ask(std::exchange(lacking_, 0));
}

Effect NeighboursNeed::give(std::uint64_t bytes, std::uint64_t now_ms) {
  Effect sum;
  if (!willing_) {
    sum.status = wire::ControlStatus::kRefused;
    sum.text = "this process gives nothing to neighbours: its --trim-at has no pressure";
    return sum;
  }
  if (gave_ms_ && now_ms - *gave_ms_ < BoundaryWatch::kNeedPauseMs) {
    sum.status = wire::ControlStatus::kBusy;
    sum.text = "asked a moment ago";
    return sum;
  }
  gave_ms_ = now_ms;
  for (const BoundaryAct& gift : kGifts) {
    if (released(sum) >= bytes) break;
    const Effect effect = perform(log_, gift);
    if (effect.status != wire::ControlStatus::kDone) return released(sum) > 0 ? sum : effect;
    sum.released += effect.released;
    sum.heap_released += effect.heap_released;
    sum.driver_released += effect.driver_released;
    sum.driver_kept = effect.driver_kept;
  }
  return sum;
}

std::unique_ptr<BoundaryWatch> watch_boundaries(ActLog& log, const PageSlot& page,
                                                const wire::AgentSettings& settings, const char* pages_folder,
                                                std::function<std::uint64_t()> take_lacking) {
  const BoundaryRules rules = boundary_rules(settings);
  if (!rules.any()) return nullptr;
  Neighbourhood neighbourhood;
  if (const std::string folder = pages_folder; !folder.empty()) {
    neighbourhood.take_lacking = std::move(take_lacking);
    neighbourhood.ask = [folder](std::uint64_t bytes) {
      try {
        ask_in(folder, bytes);
      } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): nobody could be asked
      }
    };
  }
  return std::make_unique<BoundaryWatch>(log, page, rules,
                                         rules.pressure ? PressureSources::open() : PressureSources(),
                                         std::move(neighbourhood));
}

}  // namespace weir::govern
