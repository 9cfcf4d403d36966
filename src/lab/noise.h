#pragma once

#include <optional>
#include <vector>

#include "lab/plan.h"
#include "lab/records.h"
#include "lab/result.h"

namespace weir::lab {

/// A against A, for decode and prefill: empty before the first block. Between: the two baseline processes of
/// every block of starts, so that the spread between processes is in it.
///
/// sd_start is the spread that an arm equal to the baseline would show over starts: an arm's turn against the
/// mean of two has 3/4 of the variance of one turn against another. Of the two estimates - the starts' own,
/// and that of all blocks divided by the blocks of a start - the larger is taken.
[[nodiscard]] std::vector<NoiseFloor> noise_floors(const Plan& plan, const Records& records);

/// Starts with which a spread finds `log_effect` at `level` with 80 % power and which the exact test needs
/// for the level; nullopt above 5,000.
[[nodiscard]] std::optional<int> starts_for_effect(double sd_start, double log_effect, double level);

/// Measured seconds of one speed start (between: of one block of starts), process starts included; by the
/// probe before the first block.
[[nodiscard]] double seconds_per_start(const Plan& plan, const Records& records);

}  // namespace weir::lab
