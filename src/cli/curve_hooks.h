#pragma once

#include "cli/limits.h"

namespace weir::cli {

/// What the store adds to `weir limits` and to `auto`: the curve of the named model on this machine and
/// library. A model that is not there, and a store that is not there yet, have no curve; one that cannot be
/// read throws a Failure.
[[nodiscard]] LimitsHooks curve_hooks();

}  // namespace weir::cli
