#pragma once

#include <string>
#include <vector>

#include "cli/top_history.h"
#include "cli/top_line.h"

namespace weir::cli {

/// Everything about one process, no wider than the frame: the sum of its layers with the bar, resident beside
/// it, both limits with how full they are, rates, history, the latest act, devices. Pure.
[[nodiscard]] std::vector<TopLine> details_lines(const WatchedProcess& process, const TopFrame& frame);

/// Appends the text, broken at spaces into lines of the frame's width; further lines are indented.
void add_wrapped(std::vector<TopLine>& lines, const std::string& text, const TopFrame& frame,
                 Ink ink = Ink::kPlain);

/// What the keys, columns and signs mean. Pure.
[[nodiscard]] std::vector<TopLine> help_lines(const TopFrame& frame);

}  // namespace weir::cli
