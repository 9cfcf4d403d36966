#pragma once

#include <vector>

#include "lab/result.h"
#include "lab/samples.h"

namespace weir::lab {

/// What the rule says of one arm.
struct Decision {
  Verdict verdict = Verdict::kInconclusive;
  std::string reason;  ///< "" for SHIP, cost or no_saving for CLOSE, undecided.
  Ratio decode, prefill;
  Saved saved;
};

/// The sealed rule, at `level` (alpha, or Pocock's at one look), over all arms but the baseline. m =
/// rule.margin, g = rule.saving_bytes (which must be filled).
///
/// SHIP: both speed ratios above 1 - m and the saving above g. Its p is the largest of the parts (speed: the
/// larger of paired t and exact Wilcoxon; saving: t on the rounds' smallest values); Holm over the arms.
/// CLOSE: decode or prefill below 1 - m (cost, named first), or the saving below g (no_saving, t on the
/// rounds' largest values); Holm over arms x reasons. Everything else is undecided. An arm that is void stays
/// in both families with p = 1, so that what is void never makes the others easier. Lower bounds are printed
/// at SHIP's level by Holm, upper bounds at CLOSE's. `smallest_level` is the one that the MDE is stated for.
/// `samples` and `is_void` are by arm index.
[[nodiscard]] std::vector<Decision> decide(const Rule& rule, double level, double smallest_level,
                                           const std::vector<ArmSamples>& samples,
                                           const std::vector<bool>& is_void, int baseline);

}  // namespace weir::lab
