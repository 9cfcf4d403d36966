#pragma once

#include <string>
#include <vector>

#include "cli/top_history.h"
#include "cli/top_line.h"
#include "ledger/machine_memory.h"
#include "ledger/process_table.h"

namespace weir::cli {

/// A process as a page and /proc would tell it, every value made up and in harmony with the others.
[[nodiscard]] ledger::GovernedProcess made_up_process(pid_t pid, const std::string& command,
                                                      std::int64_t live_bytes, std::int64_t retained_bytes);

/// A server under `mlx-policy` with dead sizes, a worker of the same run, weir's own runner in its decode
/// phase, and a process that weir stays out of.
[[nodiscard]] std::vector<ledger::GovernedProcess> made_up_processes();

/// The same after `looks` looks, one second apart, during which the server grows and shrinks.
[[nodiscard]] std::vector<WatchedProcess> watched_processes(int looks);

[[nodiscard]] ledger::MachineMemory made_up_machine();

/// The lines as a terminal would show them, each ended by a newline.
[[nodiscard]] std::string text_of(const std::vector<TopLine>& lines);

/// Compares with src/cli/golden/NAME; with WEIR_UPDATE_GOLDEN in the environment it writes the file instead.
void expect_screen(const std::string& name, const std::string& text);

}  // namespace weir::cli
