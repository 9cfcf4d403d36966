#pragma once

#include <string>
#include <vector>

#include "cli/top_history.h"

namespace weir::cli {

/// The names of what `plain_line` prints, in its order; every line holds as many words.
[[nodiscard]] std::string plain_head();

/// One process at one moment as one line for a log or a pipe: words apart by spaces, sizes such as "165MB",
/// "?" where unknown. Pure.
[[nodiscard]] std::string plain_line(const WatchedProcess& process, const std::string& clock);

/// All processes at one moment as one line of JSON: {"time", "processes": [keys of `weir ps` with
/// allocations_per_second, faults_per_second, tokens_per_second]}. Pure.
[[nodiscard]] std::string json_line(const std::vector<WatchedProcess>& processes, double unix_seconds);

}  // namespace weir::cli
