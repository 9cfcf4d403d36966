#include <algorithm>
#include <cstring>
#include <exception>

#include "govern/control_watch.h"
#include "ledger/control_client.h"
#include "ledger/own_layers.h"
#include "wire/wall_clock.h"

namespace weir::govern {
namespace {

using wire::ActCause;
using wire::ActKind;
using wire::ControlStatus;

/// As much of the words as fits, cut between characters.
void write_text(const std::string& text, wire::ControlReply& reply) noexcept {
  std::size_t length = std::min(text.size(), sizeof reply.text - 1);
  const auto continues = [&] { return (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U; };
  while (length > 0 && length < text.size() && continues())
    --length;
  std::memset(reply.text, 0, sizeof reply.text);
  std::memcpy(reply.text, text.data(), length);
}

void write_effect(const Effect& effect, wire::ControlReply& reply) noexcept {
  reply.status = static_cast<std::uint16_t>(effect.status);
  reply.released = effect.released;
  reply.heap_released = effect.heap_released;
  reply.driver_released = effect.driver_released;
  reply.driver_kept = effect.driver_kept;
  write_text(effect.text, reply);
}

void add(Effect& sum, const Effect& more) {
  sum.status = std::max(sum.status, more.status);
  sum.released += more.released;
  sum.heap_released += more.heap_released;
  sum.driver_released += more.driver_released;
  sum.driver_kept = std::max(sum.driver_kept, more.driver_kept);
  if (more.text.empty()) return;
  sum.text += (sum.text.empty() ? "" : "; ") + more.text;
}

Effect set_limits(const wire::ControlRequest& request, ActLog& log) {
  Effect done;
  // The memory limit first: where it is refused nothing has changed.
  if ((request.flags & wire::kSetsMemoryLimit) != 0) {
    WantedLimits wanted;
    wanted.memory_limit = request.memory_limit;
    add(done, log.perform({ActKind::kSetMemoryLimit, ActCause::kControl, request.memory_limit},
                          [&](IActs& acts) { return acts.set_limits(wanted); }));
    if (done.status != ControlStatus::kDone && done.status != ControlStatus::kPending) return done;
  }
  if ((request.flags & (wire::kSetsCacheLimit | wire::kUnsetsCacheLimit)) != 0) {
    WantedLimits wanted;
    wanted.unset_cache_limit = (request.flags & wire::kUnsetsCacheLimit) != 0;
    if (!wanted.unset_cache_limit) wanted.cache_limit = request.cache_limit;
    add(done, log.perform(
                  {ActKind::kSetCacheLimit, ActCause::kControl, wanted.cache_limit.value_or(wire::kNoLimit)},
                  [&](IActs& acts) { return acts.set_limits(wanted); }));
  }
  return done;
}

void store_sample(wire::CountersPage& page, const wire::SampleRecord& sample) noexcept {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const wire::PageUpdate update(page.acts_sequence);
  page.sampled_ns.store(wire::wall_clock_ns(), kRelaxed);
  page.sampled_heap_idle.store(sample.heap_idle, kRelaxed);
  page.sampled_identified.store(sample.identified, kRelaxed);
  page.sampled_untouched.store(sample.untouched, kRelaxed);
  page.sampled_unexplained.store(sample.unexplained, kRelaxed);
}

/// The governor's lock is held for the counters and the page only: reading /proc takes tens of milliseconds.
Effect sample_layers(ActLog& log, const PageSlot& page, wire::ControlReply& reply) {
  const Result<ledger::Layers> layers = ledger::read_steady_own_layers(
      [&log] { return log.read([](IActs& acts) { return acts.ledger_counters(); }); });
  Effect effect;
  if (!layers) {
    effect.status = ControlStatus::kFailed;
    effect.text = describe(layers.error());
    return effect;
  }
  reply.sample = ledger::sample_record(*layers);
  reply.has_sample = 1;
  log.read([&](IActs&) { store_sample(*page.load(), reply.sample); });
  return effect;
}

Effect refused(const char* text) {
  Effect effect;
  effect.status = ControlStatus::kRefused;
  effect.text = text;
  return effect;
}

Effect act(const wire::ControlRequest& request, ActLog& log, const PageSlot& page, const NeedHook& need,
           wire::ControlReply& reply) {
  switch (static_cast<wire::Verb>(request.verb)) {
    case wire::Verb::kSample:
      return sample_layers(log, page, reply);
    case wire::Verb::kSet:
      return set_limits(request, log);
    case wire::Verb::kTrim:
      return log.perform({ActKind::kTrim, ActCause::kControl}, [](IActs& acts) { return acts.trim(); });
    case wire::Verb::kReturn:
      return log.perform({ActKind::kReturn, ActCause::kControl},
                         [](IActs& acts) { return acts.give_back(); });
    case wire::Verb::kResetPeak:
      return log.perform({ActKind::kResetPeak, ActCause::kControl},
                         [](IActs& acts) { return acts.reset_peak(); });
    case wire::Verb::kNeed:
      if (need) return need(request.bytes);
      return refused("this process gives nothing back at a neighbour's need; --trim-at pressure makes it");
  }
  return refused("an unknown verb");
}

}  // namespace

wire::ControlReply answer_control(const wire::ControlRequest& request, ActLog& log, const PageSlot& page,
                                  const NeedHook& need) noexcept {
  wire::ControlReply reply;
  reply.verb = request.verb;
  try {
    write_effect(act(request, log, page, need, reply), reply);
  } catch (const std::exception& trouble) {
    reply.status = static_cast<std::uint16_t>(ControlStatus::kFailed);
    std::strncpy(reply.text, trouble.what(), sizeof reply.text - 1);
  }
  const wire::CountersPage& now = *page.load();
  reply.cache_limit = now.cache_limit.load(std::memory_order_relaxed);
  reply.memory_limit = now.memory_limit.load(std::memory_order_relaxed);
  return reply;
}

}  // namespace weir::govern
