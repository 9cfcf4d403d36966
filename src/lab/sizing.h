#pragma once

#include "lab/plan.h"
#include "lab/records.h"

namespace weir::lab {

/// Sizes fill this share of the minutes; the rest is for what a probe cannot see (a slower arm, a busy hour).
inline constexpr double kPlannedShare = 0.95;

/// A screen promises its time: it ends before a piece that would take it past this many times its minutes.
inline constexpr double kScreenOverrun = 1.1;

/// What sizes are chosen by: the spread of a start's own shift against that of one block. What it is here, an
/// experiment only knows afterwards (noise.h).
inline constexpr double kStartSpread = 0.3;
/// The same for fresh processes that are held against each other: here they differed by twice as much as two
/// turns of one.
inline constexpr double kProcessSpread = 2;

/// What a plan will take, in seconds, by its probe. A block of the crossover; a speed start with so many
/// blocks (between: a block of starts whose processes run so many turns), process starts included; and all of
/// them.
[[nodiscard]] double seconds_per_block(const Question& question, const Probe& probe) noexcept;
[[nodiscard]] double expected_start_seconds(const Question& question, const Probe& probe,
                                            int blocks) noexcept;
[[nodiscard]] double expected_footprint_seconds(const Plan& plan) noexcept;
[[nodiscard]] double expected_speed_seconds(const Plan& plan) noexcept;

/// The smallest effect that starts x blocks find at `level`, in spreads of one block: a start varies by
/// sqrt(1 / blocks + spread²). starts >= 2, blocks >= 1.
[[nodiscard]] double expected_effect(int starts, int blocks_per_start, double level,
                                     double spread = kStartSpread);

/// Seconds that the prompts of one footprint start may take, so that one start an arm and the probe's own
/// stay within half of a screen's minutes. No end for plans that reach a verdict: a prefix that is too short
/// to reach the limits would make them worthless.
[[nodiscard]] double footprint_seconds_allowed(const Question& question) noexcept;

/// Sizes for kPlannedShare of the question's minutes, of which the probe has taken its part. Footprint starts
/// first (three an arm; two where three would take 40 % of the time), then the starts x blocks of the
/// smallest expected effect, with at least six starts and what SHIP's level needs, and what CLOSE's needs
/// where that fits. The floor may take longer than the minutes asked for. Quick: one footprint start an arm
/// (two where they take less than a quarter), and three starts, which a slow machine ends early
/// (out_of_time). Decide: starts in threes, three looks. Between: the same with blocks of starts x turns of a
/// process, and the spread of processes. `footprint_prompts` and `warm_per_turn` of `chosen`
/// are kept. Pure.
[[nodiscard]] DesignSizes choose_sizes(const Question& question, const Probe& probe, DesignSizes chosen,
                                       int most_blocks_per_start);

/// Time spent on completed footprint starts and blocks, over all sittings.
[[nodiscard]] double measured_seconds(const Records& records);

/// What a screen's promise leaves of its time; infinite for plans that reach a verdict.
[[nodiscard]] double screen_seconds_left(const Plan& plan, const Records& records);

/// True when a screen must end here: its probe, what it has measured and the next piece (as long as the
/// longest of its kind so far) would pass kScreenOverrun. Never for plans that reach a verdict: to stop them
/// anywhere but at a sealed look would break their error rate. Pure.
[[nodiscard]] bool out_of_time(const Plan& plan, const Records& records);

}  // namespace weir::lab
