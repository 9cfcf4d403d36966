#pragma once

#include "cli/subcommand.h"

namespace weir::cli {

/// `weir ctl PROCESS VERB`: acts on one governed process and shows what it came to. Exit codes: 64 a wrong
/// word, 69 a process that is gone or not ours, 75 a verb that was refused or a limit that cannot be met; 0
/// done, or pending and said so.
[[nodiscard]] Subcommand ctl_subcommand();

}  // namespace weir::cli
