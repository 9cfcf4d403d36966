#pragma once

#include "cli/subcommand.h"

namespace weir::cli {

/// `weir price [MODEL]`: what a cache limit costs and saves, with a verdict (docs/reference/cli.md#price).
[[nodiscard]] Subcommand price_subcommand();

}  // namespace weir::cli
