#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "govern/i_acts.h"
#include "wire/counters_page.h"

namespace weir::govern {

/// Acts that are written down, for tests. What they release comes from `aged`, `fresh` and `heap`, and the
/// page's retained bytes follow.
class FakeActs final : public IActs {
 public:
  explicit FakeActs(wire::CountersPage& page) noexcept : page_(page) {}

  Effect set_limits(const WantedLimits&) override { return did("set", 0, 0); }
  Effect trim() override {
    const std::uint64_t all = aged + fresh;
    aged = fresh = 0;
    return did("trim", all, 0);
  }
  Effect trim_aged(std::uint64_t age_ms) override {
    const std::uint64_t all = aged;
    aged = 0;
    return did("aged " + std::to_string(age_ms), all, 0);
  }
  Effect give_back() override {
    const std::uint64_t all = aged + fresh;
    const std::uint64_t from_heap = heap;
    aged = fresh = heap = 0;
    return did("give back", all, from_heap);
  }
  Effect reset_peak() override { return did("reset", 0, 0); }
  [[nodiscard]] ledger::AllocatorCounters ledger_counters() override { return {}; }

  /// Bytes that wait to be released.
  std::uint64_t aged = 0, fresh = 0, heap = 0;
  std::vector<std::string> done;

 private:
  Effect did(std::string what, std::uint64_t released, std::uint64_t from_heap) {
    done.push_back(std::move(what));
    page_.retained.store(aged + fresh);
    Effect effect;
    effect.released = released;
    effect.heap_released = from_heap;
    return effect;
  }

  wire::CountersPage& page_;
};

}  // namespace weir::govern
