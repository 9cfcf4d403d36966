#include "lab/schedule.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "lab/seeded_random.h"

namespace weir::lab {

namespace {

constexpr std::uint64_t kOrder = 1, kLengths = 2, kFootprint = 3;

/// Lengths of one block for a cell that never repeats: the start's own permutation of the range, `per_block`
/// a block, taken as mirrored pairs.
std::vector<int> fresh_lengths(const Plan& plan, const Cell& cell, int start, int block) {
  const int available = lengths_available(cell);
  std::vector<int> low(static_cast<std::size_t>(available / 2));
  std::iota(low.begin(), low.end(), cell.shortest_prompt_tokens);
  SeededRandom random(derived_seed(plan.seed, kLengths, static_cast<std::uint64_t>(start)));
  random.shuffle(low);
  std::vector<int> all;
  const int mirror = cell.shortest_prompt_tokens + cell.longest_prompt_tokens;
  for (const int length : low) {
    const bool swap = random.below(2) == 1;
    all.push_back(swap ? mirror - length : length);
    all.push_back(swap ? length : mirror - length);
  }
  if (available % 2 == 1) all.push_back(mirror / 2);
  const std::ptrdiff_t per_block = plan.sizes.warm_per_turn + cell.measured_per_turn;
  return {all.begin() + block * per_block, all.begin() + (block + 1) * per_block};
}

/// Evenly spaced over the range, the same for warm and measured requests of every block.
std::vector<int> repeated_lengths(const Cell& cell, int warm_per_turn) {
  std::vector<int> out;
  const int span = cell.longest_prompt_tokens - cell.shortest_prompt_tokens;
  const auto nth = [&](int i, int of) {
    return of == 1 ? cell.shortest_prompt_tokens + span / 2
                   : cell.shortest_prompt_tokens + span * i / (of - 1);
  };
  for (int i = 0; i < warm_per_turn; ++i)
    out.push_back(nth(i % cell.measured_per_turn, cell.measured_per_turn));
  for (int i = 0; i < cell.measured_per_turn; ++i)
    out.push_back(nth(i, cell.measured_per_turn));
  return out;
}

}  // namespace

int most_blocks_per_start(const Cell& cell, int warm_per_turn) noexcept {
  if (cell.repeat) return 1'000;
  return std::min(1'000, lengths_available(cell) / (warm_per_turn + cell.measured_per_turn));
}

BlockPlan schedule(const Plan& plan, const Cell& cell, int start, int block) {
  WEIR_CHECK_LT(block, most_blocks_per_start(cell, plan.sizes.warm_per_turn));
  BlockPlan out;
  const auto& question = plan.question;
  for (std::size_t arm = 0; arm < question.arms.size(); ++arm) {
    out.turns.push_back({static_cast<int>(arm), false});
    if (question.arms[arm].name == question.baseline) out.turns.push_back({static_cast<int>(arm), true});
  }
  const auto index = static_cast<std::uint64_t>(start) * 1'000'003u + static_cast<std::uint64_t>(block);
  SeededRandom(derived_seed(plan.seed, kOrder, index)).shuffle(out.turns);
  const auto lengths = cell.repeat ? repeated_lengths(cell, plan.sizes.warm_per_turn)
                                   : fresh_lengths(plan, cell, start, block);
  const std::string prefix = cell.name + "/" + std::to_string(start) + "." + std::to_string(block) + "/";
  for (int i = 0; i < static_cast<int>(lengths.size()); ++i) {
    const bool warm = i < plan.sizes.warm_per_turn;
    auto& into = warm ? out.warm : out.measured;
    into.push_back({prefix + (warm ? "warm" : "measured") + std::to_string(into.size()),
                    lengths[static_cast<std::size_t>(i)],
                    warm ? cell.warm_generate_tokens : cell.measured_generate_tokens});
  }
  return out;
}

std::vector<TurnPlan> starts_order(const Plan& plan, const Cell& cell, int start) {
  return schedule(plan, cell, start, 0).turns;
}

std::vector<int> footprint_order(const Plan& plan) {
  std::vector<int> out;
  for (int round = 0; round < plan.sizes.footprint_starts_per_arm; ++round) {
    std::vector<int> arms(plan.question.arms.size());
    std::iota(arms.begin(), arms.end(), 0);
    SeededRandom(derived_seed(plan.seed, kFootprint, static_cast<std::uint64_t>(round))).shuffle(arms);
    out.insert(out.end(), arms.begin(), arms.end());
  }
  return out;
}

}  // namespace weir::lab
