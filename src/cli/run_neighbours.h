#pragma once

#include <string>

#include "cli/run_start.h"

namespace weir::cli {

/// How many bytes of the memory limit are not free now; 0: it fits, there is none, or nobody knows.
[[nodiscard]] std::int64_t missing_bytes(std::uint64_t memory_limit, std::int64_t free_bytes);

/// Before the program starts: where its memory limit exceeds what is free, the user's other governed
/// processes are asked to give back what is missing. A line that says what came of it; "" where nobody had to
/// be asked or nobody is there. Two seconds at most.
[[nodiscard]] std::string make_room(const RunStart& start);

}  // namespace weir::cli
