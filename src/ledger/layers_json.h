#pragma once

#include <nlohmann/json_fwd.hpp>

#include "base/error.h"
#include "ledger/layers.h"

namespace weir::ledger {

/// The `layers` object of every JSON output: the names of `Layers` as keys, unknown as null, `tags` as an
/// object, `identified_parts` as [{name, bytes}].
[[nodiscard]] nlohmann::json to_json(const Layers& layers);

/// The reverse. Missing keys are unknown; a value of the wrong kind is kBadData and names its key. Unknown
/// keys are skipped, because later versions add some.
[[nodiscard]] Result<Layers> layers_from_json(const nlohmann::json& json);

}  // namespace weir::ledger
