#pragma once

#include "cli/limits.h"
#include "cli/subcommand.h"

namespace weir::cli {

/// `weir generate MODEL -p TEXT`: runs a model once; text to stdout as it comes, statistics to stderr.
[[nodiscard]] Subcommand generate_subcommand(LimitsHooks hooks);

}  // namespace weir::cli
