#include "ledger/machine_settings.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"
#include "ledger/proc_status.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLargestFile = 1u << 20;
constexpr std::int64_t kKibibyte = 1024;

std::string text_of(const fs::path& path) {
  return read_text(path, kLargestFile).value_or("");
}

std::string_view take_line(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  return line;
}

/// The next word behind spaces and tabs.
std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(" \t")));
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t\n"));
  rest.remove_prefix(word.size());
  return word;
}

std::optional<std::int64_t> number_of(std::string_view text) {
  const std::string_view word = take_word(text);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc{} || end != word.data() + word.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<std::int64_t> number_in(const fs::path& path) {
  return number_of(text_of(path));
}

/// Bytes of the swaps on zram devices, by the lines of /proc/swaps: name, type, size in kB.
std::int64_t zram_bytes(std::string_view swaps) {
  std::int64_t sum = 0;
  while (!swaps.empty()) {
    std::string_view line = take_line(swaps);
    const bool is_zram = take_word(line).starts_with("/dev/zram");
    take_word(line);  // the type
    const std::optional<std::int64_t> size = number_of(line);
    if (is_zram && size && *size < INT64_MAX / kKibibyte / 1024) sum += *size * kKibibyte;
  }
  return sum;
}

HugePages huge_pages_of(const fs::path& root) {
  const fs::path folder = root / "sys/kernel/mm/transparent_hugepage";
  HugePages pages;
  pages.enabled = chosen_word(text_of(folder / "enabled"));
  pages.defrag = chosen_word(text_of(folder / "defrag"));
  pages.khugepaged_defrag = number_in(folder / "khugepaged/defrag");
  pages.largest_hole = number_in(folder / "khugepaged/max_ptes_none");
  const std::string status = text_of(root / "proc/self/status");
  if (const std::size_t at = status.find("\nTHP_enabled:"); at != std::string::npos)
    pages.disabled_here = number_of(std::string_view(status).substr(at + 13)) == 0;
  return pages;
}

}  // namespace

ProcessLimits parse_process_limits(std::string_view text) {
  ProcessLimits limits;
  struct Line {
    std::string_view name;
    Bytes ProcessLimits::*value;
  };
  constexpr Line kLines[] = {{"Max address space ", &ProcessLimits::address_space},
                             {"Max data size ", &ProcessLimits::data},
                             {"Max locked memory ", &ProcessLimits::locked}};
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    for (const Line& known : kLines)
      if (line.starts_with(known.name)) limits.*known.value = number_of(line.substr(known.name.size()));
  }
  return limits;
}

std::string chosen_word(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos) return "";
  const std::size_t close = text.find(']', open);
  if (close == std::string_view::npos) return "";
  return std::string(text.substr(open + 1, close - open - 1));
}

MachineSettings machine_settings(const fs::path& root) {
  MachineSettings settings;
  settings.limits = parse_process_limits(text_of(root / "proc/self/limits"));
  settings.huge_pages = huge_pages_of(root);
  const std::string meminfo = text_of(root / "proc/meminfo");
  settings.commit_limit = kilobyte_line(meminfo, "CommitLimit");
  settings.committed = kilobyte_line(meminfo, "Committed_AS");
  settings.swap.total = kilobyte_line(meminfo, "SwapTotal").value_or(0);
  settings.swap.used =
      std::max<std::int64_t>(0, settings.swap.total - kilobyte_line(meminfo, "SwapFree").value_or(0));
  settings.swap.compressed = std::min(settings.swap.total, zram_bytes(text_of(root / "proc/swaps")));
  settings.swap.swappiness = number_in(root / "proc/sys/vm/swappiness");
  settings.max_map_count = number_in(root / "proc/sys/vm/max_map_count");
  settings.overcommit = number_in(root / "proc/sys/vm/overcommit_memory");
  settings.pressure_told = !text_of(root / "proc/pressure/memory").empty();
  return settings;
}

}  // namespace weir::ledger
