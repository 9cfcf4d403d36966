#pragma once

#include <string>

#include "lab/result.h"

namespace weir::report {

/// Sections of the Markdown report about the arms of one cell; each starts with its heading and ends with a
/// blank line, or is "" where there is nothing to say.
[[nodiscard]] std::string priced_section(const lab::CellResult& cell, lab::Design design);
[[nodiscard]] std::string verdict_section(const lab::CellResult& cell);
[[nodiscard]] std::string noise_section(const lab::CellResult& cell, const lab::Rule& rule,
                                        lab::Design design);
[[nodiscard]] std::string bounds_section(const lab::CellResult& cell);
[[nodiscard]] std::string exact_section(const lab::CellResult& cell);

}  // namespace weir::report
