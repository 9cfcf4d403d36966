#pragma once

#include "lab/plan.h"

namespace weir::lab {

/// What a plan will take, in seconds, by its probe.
[[nodiscard]] double seconds_per_block(const Question& question, const Probe& probe) noexcept;
[[nodiscard]] double expected_footprint_seconds(const Plan& plan) noexcept;
[[nodiscard]] double expected_speed_seconds(const Plan& plan) noexcept;

/// Sizes that fit the question's minutes, `spent_seconds` of which are gone: footprint starts first (three an
/// arm; two where three would take 40 % of the time), then the starts x blocks that give the smallest
/// detectable effect, with at least six starts and what SHIP's level needs. The floor may take longer than
/// the minutes asked for. Quick: three starts and as many blocks as fit. Decide: starts in threes, three
/// looks. `footprint_prompts` and `warm_per_turn` of `chosen` are kept. Pure.
[[nodiscard]] DesignSizes choose_sizes(const Question& question, const Probe& probe, DesignSizes chosen,
                                       double spent_seconds, int most_blocks_per_start);

}  // namespace weir::lab
