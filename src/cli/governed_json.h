#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "ledger/process_table.h"

namespace weir::cli {

/// One process as `weir ps --json` shows it; keys in docs/reference/cli.md#ps. Unknown is null. Pure.
[[nodiscard]] nlohmann::json to_json(const ledger::GovernedProcess& process);

/// One act of weir, there and in the summary of `weir run`. Pure.
[[nodiscard]] nlohmann::json to_json(const ledger::ActReading& act);

}  // namespace weir::cli
