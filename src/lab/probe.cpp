#include "lab/probe.h"

#include <algorithm>
#include <cmath>

namespace weir::lab {

namespace {

std::int64_t milliseconds(Nanoseconds duration) {
  return std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

/// Warm and measured requests of the middle length or near it; names outside any block's.
BlockPlan timing_turn(const Cell& cell, int warm) {
  BlockPlan out;
  const int low = cell.shortest_prompt_tokens;
  const int high = cell.longest_prompt_tokens;
  const auto length = [&](int i) { return std::clamp((low + high) / 2 + (i % 2 == 0 ? i : -i), low, high); };
  for (int i = 0; i < warm; ++i)
    out.warm.push_back(
        {cell.name + "/probe/warm" + std::to_string(i), length(i + 1), cell.warm_generate_tokens});
  for (int i = 0; i < cell.measured_per_turn; ++i)
    out.measured.push_back({cell.name + "/probe/measured" + std::to_string(i), length(i + warm + 1),
                            cell.measured_generate_tokens});
  return out;
}

Result<void> probe_footprint(IWorker& worker, const Question& question, const Cell& cell,
                             const Interrupted& interrupted, Probed& out) {
  out.footprint_prompts = 0;
  for (const auto& request : cell.footprint) {
    auto event = run_request(worker, cell, request, interrupted);
    if (!event) return tl::unexpected(event.error());
    auto measured = ask_measure(worker, false);
    if (!measured) return tl::unexpected(measured.error());
    ++out.footprint_prompts;
    out.probe.retained_peak_bytes =
        std::max({out.probe.retained_peak_bytes, measured->retained_peak_bytes, event->retained_bytes});
    out.probe.footprint_peak_bytes = measured->footprint_peak_high_bytes;
    const auto saving = saving_asked(question.rule, static_cast<double>(out.probe.footprint_peak_bytes));
    out.probe.reached = out.probe.retained_peak_bytes > largest_limit(question) + saving;
    if (out.probe.reached) break;
  }
  return {};
}

}  // namespace

std::int64_t saving_asked(const Rule& rule, double footprint_bytes) noexcept {
  return std::max(rule.saving_floor_bytes,
                  static_cast<std::int64_t>(std::llround(rule.saving_share * footprint_bytes)));
}

std::int64_t largest_limit(const Question& question) noexcept {
  std::int64_t largest = 0;
  for (const auto& arm : question.arms)
    largest = std::max(largest, effective_bytes(arm.cache_limit).value_or(0));
  return largest;
}

Result<Probed> run_probe(IWorker& worker, const Question& question, const Cell& cell, Nanoseconds load,
                         IClock& clock, const Interrupted& interrupted) {
  Probed out;
  out.probe.load_milliseconds = milliseconds(load);
  if (auto switched = ask_switch(worker, ArmLimit::unlimited()); !switched)
    return tl::unexpected(switched.error());
  if (auto reset = ask_measure(worker, true); !reset) return tl::unexpected(reset.error());
  const auto begin = clock.now();
  if (auto done = probe_footprint(worker, question, cell, interrupted, out); !done)
    return tl::unexpected(done.error());
  out.probe.footprint_start_milliseconds = milliseconds(load + (clock.now() - begin));
  for (out.warm_per_turn = cell.warm_per_turn;; ++out.warm_per_turn) {
    const auto turn_begin = clock.now();
    auto turn =
        run_turn(worker, ArmLimit::unlimited(), cell, timing_turn(cell, out.warm_per_turn), interrupted);
    if (!turn) return tl::unexpected(turn.error());
    out.probe.turn_milliseconds = milliseconds(clock.now() - turn_begin);
    if (turn->retained_peak_bytes > largest_limit(question) ||
        out.warm_per_turn >= cell.warm_per_turn_at_most)
      break;
  }
  return out;
}

}  // namespace weir::lab
