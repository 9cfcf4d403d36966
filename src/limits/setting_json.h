#pragma once

#include <nlohmann/json_fwd.hpp>

#include "limits/setting.h"

namespace weir::limits {

/// {mode, bytes, effective_bytes, denominator, denominator_bytes, source, text, rules, note}: the contract of
/// `weir limits --json`. `bytes` is null unless the mode is bytes, `effective_bytes` is null when unlimited
/// or no number, `denominator` is null without one. `note`: what `auto` or `unset` comes to, in words.
[[nodiscard]] nlohmann::json to_json(const Setting& setting);

/// {cache_limit, memory_limit, warnings: [{name, what}]}.
[[nodiscard]] nlohmann::json to_json(const Resolved& resolved);

}  // namespace weir::limits
