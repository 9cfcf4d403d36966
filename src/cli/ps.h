#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/subcommand.h"
#include "ledger/machine_memory.h"
#include "ledger/process_table.h"
#include "report/style.h"

namespace weir::cli {

/// The table of `weir ps`: the machine, a row for each process, and a sum under each run of several.
/// `machine` nullopt: /proc does not tell. Pure.
[[nodiscard]] std::string ps_table(const std::vector<ledger::GovernedProcess>& processes,
                                   const std::optional<ledger::MachineMemory>& machine,
                                   const report::Style& style);

/// `weir ps [--json]`.
[[nodiscard]] Subcommand ps_subcommand();

}  // namespace weir::cli
