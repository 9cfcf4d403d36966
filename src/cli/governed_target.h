#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"
#include "ledger/page_reading.h"

namespace weir::cli {

/// The living governed process that a word of the command line means, with the folder of its page and socket.
struct GovernedTarget {
  std::filesystem::path folder;
  ledger::PageReading page;
};

/// By pid or by name. A name that nobody or several have is kUsage and lists the candidates; a pid behind
/// which no governed process lives is kEnvironment.
[[nodiscard]] Result<GovernedTarget> governed_target(const std::string& word);

/// "python3.11 (pid 26219)".
[[nodiscard]] std::string target_name(const ledger::PageReading& page);

}  // namespace weir::cli
