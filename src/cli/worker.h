#pragma once

#include "cli/subcommand.h"

namespace weir::cli {

/// `weir worker MODEL` (hidden): the child that the lab drives over stdin and stdout; lab/worker_protocol.h.
[[nodiscard]] Subcommand worker_subcommand();

}  // namespace weir::cli
