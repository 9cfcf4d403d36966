#pragma once

#include <string>

#include "lab/result.h"

namespace weir::report {

/// "## Checks": every check of the lab with passed, failed or not known, and its evidence; then warnings that
/// void nothing.
[[nodiscard]] std::string checks_section(const lab::ExperimentResult& result, const lab::CellResult& cell);

}  // namespace weir::report
