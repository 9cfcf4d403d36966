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

/// Runs a ready worker, on the baseline's allocator, without a limit: footprint prompts until the retained
/// peak exceeds the largest finite limit of the question by the saving that the rule asks for, and the
/// footprint exceeds what that limit would leave of it by 1.25 times that saving (so that it could be seen at
/// all); or all of them, or - for a screen - as many as its time holds once for every arm (sizing.h). Then
/// one speed turn, which goes on with warm requests until its peak exceeds that limit, or as many as the cell
/// allows: it has then run what a turn of the plan will run, and its time is the turn's. `load` is how long
/// the worker took to be ready. Nothing of this is data.
[[nodiscard]] Result<Probed> run_probe(IWorker& worker, const Question& question, const Cell& cell,
                                       Nanoseconds load, IClock& clock, const Interrupted& interrupted);

/// max(saving_floor_bytes, saving_share x footprint).
[[nodiscard]] std::int64_t saving_asked(const Rule& rule, double footprint_bytes) noexcept;

/// The largest finite limit among the arms; 0 without one.
[[nodiscard]] std::int64_t largest_limit(const Question& question) noexcept;

}  // namespace weir::lab
