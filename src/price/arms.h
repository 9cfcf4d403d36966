#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "lab/arm_limit.h"
#include "limits/resolve.h"

namespace weir::price {

/// The arms as the command line names them.
struct ArmWords {
  std::optional<std::string> limits;    ///< "--limits": sizes parted by commas.
  std::optional<std::string> arms;      ///< "--arms": ALLOCATOR[:SIZE] parted by commas; no SIZE is `unset`.
  std::optional<std::string> baseline;  ///< "--baseline": a size, or ALLOCATOR[:SIZE].
};

struct ChosenArms {
  std::vector<lab::Arm> arms;  ///< In the order that was asked; the baseline is one of them.
  std::string baseline;        ///< Its name.
};

/// The arms to price: without words the baseline `unlimited` against `unset`, 64 MiB and 0, on MLX's own
/// allocator. `--limits` stays on that one. A baseline that is not given is `unlimited`, and one that is a
/// mere size names no allocator: both are then on MLX's own, or on `mlx-policy` where the first of `--arms`
/// is on the pool.
///
/// Sizes follow the size grammar as cache limits; percentages become bytes here, so that the sealed plan
/// holds none. A baseline that is not named among the arms goes before them. kUsage, with the flag, the text
/// and an example: a size that is none, an unknown allocator, `auto`, two arms of one value, an arm that is
/// the baseline in other words, no arm besides the baseline, both lists at once.
[[nodiscard]] Result<ChosenArms> chosen_arms(const ArmWords& words, const limits::Denominators& denominators);

}  // namespace weir::price
