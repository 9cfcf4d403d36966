#include "govern/act_log.h"

#include <new>

#include "ledger/proc_status.h"
#include "wire/wall_clock.h"

namespace weir::govern {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// One read of a small file: tens of microseconds, nothing that another thread waits for.
std::uint64_t own_footprint() noexcept {
  try {
    const auto status = ledger::read_own_status();
    return status && status->footprint() > 0 ? static_cast<std::uint64_t>(status->footprint()) : 0;
  } catch (const std::exception&) {
    return 0;
  }
}

/// What an act changes.
struct Held {
  std::uint64_t footprint = 0, retained = 0;
};

Held held_now(const wire::CountersPage& page) noexcept {
  return {own_footprint(), page.retained.load(kRelaxed)};
}

void note(wire::CountersPage& page, const ActLog::What& what, const Effect& effect, const Held& before,
          const Held& after) noexcept {
  const wire::PageUpdate update(page.acts_sequence);
  const std::uint64_t number = page.acts_done.load(kRelaxed);
  wire::Act& act = page.acts[number % wire::kActs];
  act.time_ns.store(wire::wall_clock_ns(), kRelaxed);
  act.kind.store(static_cast<std::uint32_t>(what.kind), kRelaxed);
  act.cause.store(static_cast<std::uint32_t>(what.cause), kRelaxed);
  act.argument.store(what.argument, kRelaxed);
  act.released.store(effect.released + effect.heap_released + effect.driver_released, kRelaxed);
  act.footprint_before.store(before.footprint, kRelaxed);
  act.footprint_after.store(after.footprint, kRelaxed);
  act.retained_before.store(before.retained, kRelaxed);
  act.retained_after.store(after.retained, kRelaxed);
  page.acts_done.store(number + 1, kRelaxed);
}

Effect attempt(IActs& acts, const std::function<Effect(IActs&)>& act) noexcept {
  Effect failed;
  failed.status = wire::ControlStatus::kFailed;
  try {
    return act(acts);
  } catch (const std::bad_alloc&) {
    return failed;  // no room for words either
  } catch (const std::exception& trouble) {
    try {
      failed.text = trouble.what();
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): then without words
    }
    return failed;
  }
}

}  // namespace

Effect ActLog::perform(const What& what, const std::function<Effect(IActs&)>& act) noexcept {
  const std::lock_guard lock(mutex_);
  wire::CountersPage& page = *page_.load();
  const Held before = held_now(page);
  Effect effect = attempt(acts_, act);
  if (effect.status == wire::ControlStatus::kDone) note(page, what, effect, before, held_now(page));
  return effect;
}

}  // namespace weir::govern
