#include "govern/own_process.h"

#include <cstdlib>
#include <mutex>

#include "govern/process_page.h"
#include "ledger/governed_page.h"

namespace weir::govern {

namespace {

struct Configured {
  std::mutex mutex;
  OwnStart start;
  bool taken = false;
};

Configured& configured() {
  static auto* const kept = new Configured;  // leaked: MLX may call at exit
  return *kept;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

OwnStart start_of(OwnStart start, bool warn) {
  const std::string text = variable(wire::kAgentVariable);
  if (text.empty()) return start;
  if (wire::parse_settings(text.c_str(), start.settings)) {
    start.pages_folder = variable(wire::kPagesVariable);
    start.from_run = true;
  } else if (warn) {
    print_line("WEIR_AGENT is not what this version of weir run writes; passed over");
  }
  return start;
}

}  // namespace

Result<void> configure_process(const wire::AgentSettings& settings, const std::string& pages_folder) {
  Configured& kept = configured();
  const std::lock_guard lock(kept.mutex);
  if (kept.taken) return fail(ErrorKind::kInternal, "govern", "configured after MLX's first allocation");
  kept.start = {settings, pages_folder, false};
  return {};
}

std::string own_pages_folder() {
  const auto folder = ledger::runtime_folder();
  if (!folder) return "";
  (void)ledger::remove_stale_pages(*folder);
  return folder->string();
}

OwnStart take_own_start() {
  Configured& kept = configured();
  const std::lock_guard lock(kept.mutex);
  kept.taken = true;
  return start_of(kept.start, true);
}

bool own_start_taken() {
  Configured& kept = configured();
  const std::lock_guard lock(kept.mutex);
  return kept.taken;
}

OwnStart own_start() {
  Configured& kept = configured();
  const std::lock_guard lock(kept.mutex);
  return start_of(kept.start, false);
}

}  // namespace weir::govern
