#pragma once

#include "cli/subcommand.h"

namespace weir::cli {

/// `weir run [--cache-limit SIZE] [--memory-limit SIZE] [--allocator A] … -- CMD…`: starts CMD as if its user
/// had, with weir's agent in it, and says at the end what was governed and how high it went.
[[nodiscard]] Subcommand run_subcommand();

}  // namespace weir::cli
