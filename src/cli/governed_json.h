#pragma once

#include <cstdint>

#include <nlohmann/json_fwd.hpp>

#include "ledger/process_table.h"

namespace weir::cli {

/// One process as `weir ps --json` shows it; keys in docs/reference/cli.md#ps. Unknown is null. Pure.
[[nodiscard]] nlohmann::json to_json(const ledger::GovernedProcess& process);

/// The latest acts of weir, there and in the summary of `weir run`. Pure.
[[nodiscard]] nlohmann::json acts_json(const ledger::PageReading& page);

/// A limit, or an act's argument, in bytes; null for none. Pure.
[[nodiscard]] nlohmann::json limit_bytes_json(std::uint64_t bytes);

}  // namespace weir::cli
