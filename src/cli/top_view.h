#pragma once

#include <vector>

#include "cli/top_line.h"
#include "cli/top_model.h"

namespace weir::cli {

/// The whole screen: never more lines than the frame is high, none wider than it is wide. From the top: what
/// is governed and what the machine has, a row for each process (the selected one is always among them), the
/// panel, the keys. A frame that is too small gives up the panel, then the machine. Pure.
[[nodiscard]] std::vector<TopLine> top_screen_lines(const TopModel& model, const TopHeader& header,
                                                    const TopFrame& frame);

}  // namespace weir::cli
