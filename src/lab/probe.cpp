#include "lab/probe.h"

#include <algorithm>
#include <cmath>

#include "lab/sizing.h"

namespace weir::lab {

namespace {

std::int64_t milliseconds(Nanoseconds duration) {
  return std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}

/// The n-th request of the timing turn: of the middle length or near it, never one length twice in a cell
/// that does not repeat; its name is outside any block's.
CellRequest timing_request(const Cell& cell, int n, bool warm) {
  const int low = cell.shortest_prompt_tokens;
  const int high = cell.longest_prompt_tokens;
  const int length = std::clamp((low + high) / 2 + (n % 2 == 0 ? n : -n), low, high);
  return {cell.name + "/probe/" + (warm ? "warm" : "measured") + std::to_string(n), length,
          warm ? cell.warm_generate_tokens : cell.measured_generate_tokens};
}

/// What a request costs, in prompt tokens: one that is generated takes about as long as a dozen of a prompt.
std::int64_t work_of(const CellRequest& request) {
  return request.prompt_tokens + 12 * std::int64_t{request.generate_tokens};
}

/// Retaining more than the limits is not enough: where the largest request still fits into what is retained,
/// an arm that trims saves nothing yet. So the footprint must exceed what the largest limit would leave of
/// it, live peak and limit, by the saving asked for and a quarter of it.
bool reaches(const Question& question, const Probe& probe, std::int64_t live_peak_bytes) {
  const auto saving = saving_asked(question.rule, static_cast<double>(probe.footprint_peak_bytes));
  const auto limit = largest_limit(question);
  return probe.retained_peak_bytes > limit + saving &&
         probe.footprint_peak_bytes - live_peak_bytes - limit > saving + saving / 4;
}

Result<void> probe_footprint(IWorker& worker, const Question& question, const Cell& cell, IClock& clock,
                             const Interrupted& interrupted, Probed& out) {
  const auto begin = clock.now();
  const double allowed = footprint_seconds_allowed(question);
  std::int64_t work = 0;
  out.footprint_prompts = 0;
  for (const auto& request : cell.footprint) {
    const std::int64_t more = work + work_of(request);
    const double each = work == 0 ? 0 : seconds(clock.now() - begin) / static_cast<double>(work);
    if (each * static_cast<double>(more) > allowed) break;
    work = more;
    auto event = run_request(worker, cell, request, interrupted);
    if (!event) return tl::unexpected(event.error());
    auto measured = ask_measure(worker, false);
    if (!measured) return tl::unexpected(measured.error());
    ++out.footprint_prompts;
    out.probe.retained_peak_bytes =
        std::max({out.probe.retained_peak_bytes, measured->retained_peak_bytes, event->retained_bytes});
    out.probe.footprint_peak_bytes = measured->footprint_peak_high_bytes;
    out.probe.reached = reaches(question, out.probe, measured->live_peak_bytes);
    if (out.probe.reached) break;
  }
  return {};
}

Result<void> lift_limit(IWorker& worker, const Question& question) {
  const auto baseline = static_cast<std::size_t>(baseline_index(question));
  auto switched = ask_switch(worker, question.arms[baseline].allocator, ArmLimit::unlimited());
  if (!switched) return tl::unexpected(switched.error());
  auto reset = ask_measure(worker, true);
  if (!reset) return tl::unexpected(reset.error());
  return {};
}

/// Switch, warm and measured requests, then warm ones until the pool has passed the limits.
Result<void> probe_turn(IWorker& worker, const Question& question, const Cell& cell,
                        const Interrupted& interrupted, Probed& out) {
  if (auto lifted = lift_limit(worker, question); !lifted) return lifted;
  std::int64_t peak = 0;
  out.warm_per_turn = cell.warm_per_turn;
  for (int n = 0;; ++n) {
    const int fixed = cell.warm_per_turn + cell.measured_per_turn;
    if (n >= fixed) {
      if (peak > largest_limit(question) || out.warm_per_turn >= cell.warm_per_turn_at_most) return {};
      ++out.warm_per_turn;
    }
    const bool warm = n < cell.warm_per_turn || n >= fixed;
    auto event = run_request(worker, cell, timing_request(cell, n, warm), interrupted);
    if (!event) return tl::unexpected(event.error());
    peak = std::max({peak, event->retained_peak_bytes, event->retained_bytes});
  }
}

}  // namespace

std::int64_t saving_asked(const Rule& rule, double footprint_bytes) noexcept {
  return std::max(rule.saving_floor_bytes,
                  static_cast<std::int64_t>(std::llround(rule.saving_share * footprint_bytes)));
}

std::int64_t largest_limit(const Question& question) noexcept {
  std::int64_t largest = 0;
  for (const auto& arm : question.arms)
    largest = std::max(largest, effective_bytes(arm).value_or(0));
  return largest;
}

Result<Probed> run_probe(IWorker& worker, const Question& question, const Cell& cell, Nanoseconds load,
                         IClock& clock, const Interrupted& interrupted) {
  Probed out;
  out.probe.load_milliseconds = milliseconds(load);
  if (auto lifted = lift_limit(worker, question); !lifted) return tl::unexpected(lifted.error());
  const auto begin = clock.now();
  if (auto done = probe_footprint(worker, question, cell, clock, interrupted, out); !done)
    return tl::unexpected(done.error());
  const auto turn_begin = clock.now();
  out.probe.footprint_start_milliseconds = milliseconds(load + (turn_begin - begin));
  if (auto done = probe_turn(worker, question, cell, interrupted, out); !done)
    return tl::unexpected(done.error());
  const auto end = clock.now();
  out.probe.turn_milliseconds = milliseconds(end - turn_begin);
  out.probe.spent_milliseconds = milliseconds(load + (end - begin));
  return out;
}

}  // namespace weir::lab
