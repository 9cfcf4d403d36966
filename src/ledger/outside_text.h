#pragma once

#include <string>
#include <string_view>

namespace weir::ledger {

/// Text that another process wrote, fit for a terminal and for JSON: valid UTF-8 without control characters.
/// Each byte of what is neither becomes "?". Pure.
[[nodiscard]] std::string fit_for_output(std::string_view text);

}  // namespace weir::ledger
