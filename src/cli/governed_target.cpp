#include "cli/governed_target.h"

#include <algorithm>

#include <fmt/format.h>

#include "ledger/control_client.h"
#include "ledger/governed_page.h"

namespace weir::cli {
namespace {

bool is_number(const std::string& word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Result<GovernedTarget> governed_target(const std::string& word) {
  auto folder = ledger::runtime_folder();
  if (!folder) return tl::unexpected(std::move(folder.error()));
  auto page = ledger::find_governed(*folder, word);
  if (page) return GovernedTarget{std::move(*folder), std::move(*page)};
  // Processes end by themselves; a name that nobody has is a wrong word.
  if (page.error().kind == ErrorKind::kUsage && is_number(word)) page.error().kind = ErrorKind::kEnvironment;
  return tl::unexpected(std::move(page.error()));
}

std::string target_name(const ledger::PageReading& page) {
  return fmt::format("{} (pid {})", page.command.empty() ? "?" : page.command, page.pid);
}

}  // namespace weir::cli
