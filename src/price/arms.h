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
  std::optional<std::string> baseline;  ///< "--baseline": a size, or ALLOCATOR:SIZE.
};

struct ChosenArms {
  std::vector<lab::Arm> arms;  ///< In the order that was asked; the baseline is one of them.
  std::string baseline;        ///< Its name.
};

/// The arms to price: without words the baseline `unlimited` against `unset`, 64 MiB and 0.
///
/// Sizes follow the size grammar as cache limits; percentages become bytes here, so that the sealed plan
/// holds none. A baseline that is not named among the arms goes before them. kUsage: a size that is none,
/// `auto`, two arms of one value, no arm besides the baseline, both lists at once. kEnvironment: an allocator
/// that this build lacks.
[[nodiscard]] Result<ChosenArms> chosen_arms(const ArmWords& words, const limits::Denominators& denominators);

}  // namespace weir::price
