#pragma once

#include <string>

namespace weir::report {

/// Compares `text` with golden/<name>; with WEIR_UPDATE_GOLDEN set in the environment it writes the file
/// instead.
void expect_golden(const std::string& name, const std::string& text);

}  // namespace weir::report
