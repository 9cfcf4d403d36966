#pragma once

#include <cstdint>
#include <vector>

#include "lab/cell.h"
#include "lab/plan.h"

namespace weir::lab {

/// One turn of a block. The baseline takes two: `second` tells them apart, by lot and not by order.
struct TurnPlan {
  int arm = 0;  ///< Index into the question's arms.
  bool second = false;
  friend bool operator==(const TurnPlan&, const TurnPlan&) = default;
};

/// A randomised complete block: every arm once, the baseline twice, each with the same requests.
struct BlockPlan {
  std::vector<TurnPlan> turns;
  std::vector<CellRequest> warm, measured;
  friend bool operator==(const BlockPlan&, const BlockPlan&) = default;
};

/// Blocks that one start can hold before a length would have to come again; very many for a repeating cell.
[[nodiscard]] int most_blocks_per_start(const Cell& cell, int warm_per_turn) noexcept;

/// What block `block` of start `start` does: a pure function of the plan's seed, its arms and the cell. In
/// the between design its warm and measured requests are those of turn `block` of every process of the block
/// of starts `start`. 0 <= block < most_blocks_per_start. Lengths that do not repeat are taken as pairs which
/// mirror each other around the middle of the range, so that blocks weigh about the same.
[[nodiscard]] BlockPlan schedule(const Plan& plan, const Cell& cell, int start, int block);

/// The between design: what the processes of one block of starts run, in order; every arm once, the baseline
/// twice, by lot.
[[nodiscard]] std::vector<TurnPlan> starts_order(const Plan& plan, const Cell& cell, int start);

/// The arm of each footprint start, in running order: every arm once a round, rounds shuffled by the seed.
[[nodiscard]] std::vector<int> footprint_order(const Plan& plan);

}  // namespace weir::lab
