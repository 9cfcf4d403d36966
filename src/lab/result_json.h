#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "lab/result.h"

namespace weir::lab {

/// The result with the keys of docs/reference/cli.md#price; what is unknown is null. Pretty-printed, two
/// spaces.
[[nodiscard]] std::string to_json(const ExperimentResult& result);

/// One arm, as in `cells[].arms[]`; on one line. What curve points in the store hold.
[[nodiscard]] std::string to_json(const ArmResult& arm);

/// The inverse of a whole result, for stored results. Unknown keys are ignored; a missing or mistyped one is
/// kBadData.
[[nodiscard]] Result<ExperimentResult> result_from_json(std::string_view json);
[[nodiscard]] Result<ArmResult> arm_from_json(std::string_view json);

}  // namespace weir::lab
