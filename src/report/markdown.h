#pragma once

#include <string>

#include "lab/result.h"
#include "report/run_record.h"

namespace weir::report {

/// The whole report as GitHub-flavoured Markdown: the sentence to quote first, then the table, the sealed
/// rule, the checks with their evidence, the A/A floor, the order of the run, each start's values, the
/// environment, and how to run it again. Words from outside (model names, paths) are escaped. Pure and
/// thread-safe.
[[nodiscard]] std::string markdown(const lab::ExperimentResult& result, const RunRecord& record);

/// Text that GFM shows as it is, in a table cell or a paragraph: control characters gone, markup escaped.
[[nodiscard]] std::string markdown_escaped(std::string_view text);

}  // namespace weir::report
