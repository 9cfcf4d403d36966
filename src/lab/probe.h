#pragma once

#include "lab/plan.h"
#include "lab/turns.h"

namespace weir::lab {

/// What the probe found, and the sizes that it alone decides.
struct Probed {
  Probe probe;
  int footprint_prompts = 1;
  int warm_per_turn = 1;
};

/// Runs a ready worker without a limit: footprint prompts until the retained peak exceeds the largest finite
/// limit of the question by the saving that the rule asks for (so that such a saving could be seen at all),
/// or all of them; then speed turns with one more warm request each until the turn's peak exceeds that limit,
/// or as many as the cell allows. The last turn is the timed one. `load` is how long the worker took to be
/// ready. Nothing of this is data.
[[nodiscard]] Result<Probed> run_probe(IWorker& worker, const Question& question, const Cell& cell,
                                       Nanoseconds load, IClock& clock, const Interrupted& interrupted);

/// max(saving_floor_bytes, saving_share x footprint).
[[nodiscard]] std::int64_t saving_asked(const Rule& rule, double footprint_bytes) noexcept;

/// The largest finite limit among the arms; 0 without one.
[[nodiscard]] std::int64_t largest_limit(const Question& question) noexcept;

}  // namespace weir::lab
