#include "lab/turns.h"

#include <algorithm>

namespace weir::lab {

namespace {

RequestRecord record(const GeneratedEvent& e) {
  return {e.name,     e.prompt_tokens,   e.generated_tokens, e.finish_reason,
          e.ids_hash, e.prefill_seconds, e.decode_seconds};
}

/// Runs requests into `into`; returns the faults they took.
Result<std::int64_t> run_all(IWorker& worker, const Cell& cell, const std::vector<CellRequest>& requests,
                             const Interrupted& interrupted, TurnRecord& turn,
                             std::vector<RequestRecord>& into) {
  std::int64_t faults = 0;
  for (const auto& request : requests) {
    auto event = run_request(worker, cell, request, interrupted);
    if (!event) return tl::unexpected(event.error());
    into.push_back(record(*event));
    turn.retained_peak_bytes =
        std::max({turn.retained_peak_bytes, event->retained_peak_bytes, event->retained_bytes});
    turn.retained_bytes = event->retained_bytes;
    faults += event->minor_faults + event->major_faults;
  }
  return faults;
}

/// Runs one turn of the plan into `out`.
Result<void> add_turn(IWorker& worker, const Plan& plan, const Cell& cell, const TurnPlan& turn,
                      const BlockPlan& requests, const Interrupted& interrupted, BlockRecord& out) {
  const Arm& arm = plan.question.arms[static_cast<std::size_t>(turn.arm)];
  auto done = run_turn(worker, arm, cell, requests, interrupted);
  if (!done) return tl::unexpected(done.error());
  done->arm = turn.arm;
  done->second = turn.second;
  out.turns.push_back(std::move(*done));
  return {};
}

}  // namespace

Result<GeneratedEvent> run_request(IWorker& worker, const Cell& cell, const CellRequest& request,
                                   const Interrupted& interrupted) {
  if (interrupted()) return fail(ErrorKind::kEnvironment, "lab", "interrupted");
  auto event =
      ask_generate(worker, {request.name, cell.text, request.prompt_tokens, request.generate_tokens});
  if (!event) return event;
  if (event->name != request.name)
    return fail(ErrorKind::kBadData, "worker",
                "answered request " + event->name + " in place of " + request.name);
  if (event->prompt_tokens != request.prompt_tokens || event->generated_tokens != request.generate_tokens)
    return fail(
        ErrorKind::kBadData, "worker",
        "did other work than request " + request.name + " asks for: " + std::to_string(event->prompt_tokens) +
            " prompt tokens and " + std::to_string(event->generated_tokens) + " generated, not " +
            std::to_string(request.prompt_tokens) + " and " + std::to_string(request.generate_tokens));
  constexpr double kShortestSeconds = 1e-9;
  if (event->prefill_seconds < kShortestSeconds || event->decode_seconds < kShortestSeconds)
    return fail(ErrorKind::kBadData, "worker", "reports no time for request " + request.name);
  return event;
}

Result<TurnRecord> run_turn(IWorker& worker, const Arm& arm, const Cell& cell, const BlockPlan& requests,
                            const Interrupted& interrupted) {
  auto switched = ask_switch(worker, arm.allocator, arm.cache_limit);
  if (!switched) return tl::unexpected(switched.error());
  // Peaks start over once the arm is in force and what the previous arm kept is gone.
  if (auto reset = ask_measure(worker, true); !reset) return tl::unexpected(reset.error());
  TurnRecord turn;
  turn.allocator = switched->allocator;
  turn.in_force_bytes = switched->in_force_bytes;
  auto warm = run_all(worker, cell, requests.warm, interrupted, turn, turn.warm);
  if (!warm) return tl::unexpected(warm.error());
  auto faults = run_all(worker, cell, requests.measured, interrupted, turn, turn.measured);
  if (!faults) return tl::unexpected(faults.error());
  turn.page_faults = *faults;
  return turn;
}

Result<BlockRecord> run_block(IWorker& worker, const Plan& plan, const Cell& cell, int start, int block,
                              IClock& clock, const Interrupted& interrupted) {
  const auto begin = clock.now();
  const BlockPlan requests = schedule(plan, cell, start, block);
  BlockRecord out;
  out.start = start;
  out.block = block;
  for (const auto& turn : requests.turns) {
    if (auto done = add_turn(worker, plan, cell, turn, requests, interrupted, out); !done)
      return tl::unexpected(done.error());
  }
  out.seconds = seconds(clock.now() - begin);
  return out;
}

Result<BlockRecord> run_one_arm(IWorker& worker, const Plan& plan, const Cell& cell, int start, int place,
                                IClock& clock, const Interrupted& interrupted) {
  const auto begin = clock.now();
  const TurnPlan turn = starts_order(plan, cell, start)[static_cast<std::size_t>(place)];
  BlockRecord out;
  out.start = start;
  out.block = place;
  for (int n = 0; n < plan.sizes.blocks_per_start; ++n)
    if (auto done = add_turn(worker, plan, cell, turn, schedule(plan, cell, start, n), interrupted, out);
        !done)
      return tl::unexpected(done.error());
  out.seconds = seconds(clock.now() - begin);
  return out;
}

Result<FootprintRecord> run_footprint(IWorker& worker, const Arm& arm, const Cell& cell, int prompts,
                                      const Interrupted& interrupted) {
  auto switched = ask_switch(worker, arm.allocator, arm.cache_limit);
  if (!switched) return tl::unexpected(switched.error());
  if (auto reset = ask_measure(worker, true); !reset) return tl::unexpected(reset.error());
  FootprintRecord out;
  out.allocator = switched->allocator;
  out.in_force_bytes = switched->in_force_bytes;
  for (int i = 0; i < prompts; ++i) {
    auto event = run_request(worker, cell, cell.footprint[static_cast<std::size_t>(i)], interrupted);
    if (!event) return tl::unexpected(event.error());
    out.requests.push_back(record(*event));
    out.retained_bytes = event->retained_bytes;
    out.retained_peak_bytes = std::max(out.retained_peak_bytes, event->retained_bytes);
  }
  auto measured = ask_measure(worker, false);
  if (!measured) return tl::unexpected(measured.error());
  out.footprint_peak_high_bytes = measured->footprint_peak_high_bytes;
  out.footprint_peak_low_bytes = measured->footprint_peak_low_bytes;
  out.footprint_peak_source = measured->footprint_peak_source;
  out.live_peak_bytes = measured->live_peak_bytes;
  out.retained_peak_bytes = std::max(out.retained_peak_bytes, measured->retained_peak_bytes);
  out.page_faults = measured->minor_faults + measured->major_faults;
  return out;
}

}  // namespace weir::lab
