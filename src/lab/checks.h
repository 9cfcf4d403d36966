#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/cell.h"
#include "lab/plan.h"
#include "lab/records.h"
#include "lab/result.h"

namespace weir::lab {

/// A limit bounds what is kept when a buffer is freed: MLX's rule keeps one more while it is still below, so
/// at rest one buffer may lie above a limit that is not 0. weir's rule keeps no byte above its limit, at no
/// moment.
inline constexpr std::int64_t kOneBufferBytes = 64 << 20;

/// Void pairs beyond this share of the planned ones void the experiment.
inline constexpr double kMostVoidShare = 0.2;

/// What is known of one arm's reach.
struct Reach {
  std::optional<bool> reached;  ///< nullopt: the arm has no limit, or nothing has been measured.
  std::string sentence;         ///< With both figures, when not reached.
};

/// Did the workload, run without the limit (the baseline, an unlimited arm, or the unlimited probe), retain
/// more than this arm's limit: in footprint starts and in speed turns? A speed turn that never fills the pool
/// to the limit compares an arm with itself.
[[nodiscard]] Reach reach_of(const Plan& plan, const Records& records, int arm);

/// The first failed check of an arm decides its reason; ids: failed_starts, work, knob, not_reached,
/// indistinguishable, void_pairs. What needs all footprint starts is judged once `footprints_done`. Pure.
[[nodiscard]] std::vector<CheckFinding> run_checks(const Plan& plan, const Records& records,
                                                   bool footprints_done);

/// Warnings that void nothing: does the arm that ran before (crossover alone), or the place within a block,
/// explain the speed?
[[nodiscard]] std::vector<CheckFinding> order_warnings(const Plan& plan, const Records& records);

/// Warnings that void nothing: a limit of weir's pool that never acted, because retention that follows demand
/// stayed below it all by itself. The arm is then weir without a limit.
[[nodiscard]] std::vector<CheckFinding> idle_limits(const Plan& plan, const Records& records);

/// Pairs that the plan asks for: one for each arm but the baseline and each block (between: block of starts).
[[nodiscard]] int planned_pairs(const Plan& plan);

/// Pairs measured, and pairs lost to failed workers: a broken block, and the missing blocks of a start given
/// up. Between: one for each broken process, and the missing pairs of a block of starts given up.
struct PairCount {
  int pairs = 0, void_pairs = 0;
};
[[nodiscard]] PairCount count_pairs(const Plan& plan, const Records& records);

}  // namespace weir::lab
