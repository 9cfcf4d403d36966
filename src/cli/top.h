#pragma once

#include "cli/subcommand.h"

namespace weir::cli {

/// `weir top [--delay SECONDS] [--count N] [--json]`: the screen on a terminal, else a line for each process
/// and look.
[[nodiscard]] Subcommand top_subcommand();

}  // namespace weir::cli
