#pragma once

#include <vector>

#include "cli/subcommand.h"

namespace weir::cli {

/// Every subcommand, in the order of `weir --help`, with fresh state: one table per parse.
[[nodiscard]] std::vector<Subcommand> subcommands();

}  // namespace weir::cli
