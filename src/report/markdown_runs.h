#pragma once

#include <string>

#include "lab/result.h"
#include "report/run_record.h"

namespace weir::report {

/// Sections of the Markdown report about what ran, where, and how to run it again; each starts with its
/// heading and ends with a blank line, or is "" where there is nothing to say.
[[nodiscard]] std::string order_section(const RunRecord& record);
[[nodiscard]] std::string starts_section(const RunRecord& record);
[[nodiscard]] std::string environment_section(const lab::ExperimentResult& result, const RunRecord& record);
[[nodiscard]] std::string again_section(const lab::ExperimentResult& result, const RunRecord& record);

}  // namespace weir::report
