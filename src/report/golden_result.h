#pragma once

#include "lab/result.h"
#include "report/run_record.h"

namespace weir::report {

/// A finished experiment with one arm of each verdict, and what ran for it. Every value is made up and fixed.
[[nodiscard]] lab::ExperimentResult golden_result();
[[nodiscard]] RunRecord golden_record();

}  // namespace weir::report
