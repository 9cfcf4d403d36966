#pragma once

#include <functional>

#include "base/clock.h"
#include "lab/executor.h"
#include "lab/records.h"
#include "lab/schedule.h"

namespace weir::lab {

/// Asked between requests; true stops the work with an error that is no failure of the worker.
using Interrupted = std::function<bool()>;

/// Runs one block on a worker: for each turn switch, warm requests, measured requests. `seconds` is its
/// duration. Any error, and an interrupt, leaves nothing: a block is whole or not at all.
[[nodiscard]] Result<BlockRecord> run_block(IWorker& worker, const Plan& plan, const Cell& cell, int start,
                                            int block, IClock& clock, const Interrupted& interrupted);

/// The between design: runs one process of a block of starts, all its turns under the arm that the order puts
/// at `place`. Otherwise as `run_block`.
[[nodiscard]] Result<BlockRecord> run_one_arm(IWorker& worker, const Plan& plan, const Cell& cell, int start,
                                              int place, IClock& clock, const Interrupted& interrupted);

/// Runs one turn; `arm` and `second` of the record are the caller's.
[[nodiscard]] Result<TurnRecord> run_turn(IWorker& worker, const Arm& arm, const Cell& cell,
                                          const BlockPlan& requests, const Interrupted& interrupted);

/// Runs the first `prompts` footprint prompts under one arm on a fresh worker and reads its peaks.
[[nodiscard]] Result<FootprintRecord> run_footprint(IWorker& worker, const Arm& arm, const Cell& cell,
                                                    int prompts, const Interrupted& interrupted);

/// One request, with its peaks.
[[nodiscard]] Result<GeneratedEvent> run_request(IWorker& worker, const Cell& cell,
                                                 const CellRequest& request, const Interrupted& interrupted);

}  // namespace weir::lab
