#include "cli/run_neighbours.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "ledger/machine_memory.h"
#include "ledger/neighbours.h"

namespace weir::cli {

std::int64_t missing_bytes(std::uint64_t memory_limit, std::int64_t free_bytes) {
  constexpr std::uint64_t kMost = 1ULL << 57;
  if (memory_limit == wire::kNoLimit) return 0;
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(std::min(memory_limit, kMost)) - free_bytes);
}

std::string make_room(const RunStart& start) {
  if (start.pages.empty() || start.settings.memory_limit == wire::kNoLimit) return "";
  const auto machine = ledger::machine_memory();
  if (!machine) return "";
  const std::int64_t missing = missing_bytes(start.settings.memory_limit, machine->free_bytes());
  if (missing == 0) return "";
  const ledger::NeedAnswer answer = ledger::ask_neighbours(start.pages, missing);
  if (answer.asked == 0) return "";
  return fmt::format(
      "the memory limit is {} more than what is free; {} of {} governed processes gave back {}",
      short_bytes(missing), answer.gave, answer.asked, short_bytes(answer.released));
}

}  // namespace weir::cli
