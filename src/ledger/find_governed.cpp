#include <algorithm>
#include <charconv>
#include <string>

#include "base/file.h"
#include "ledger/control_client.h"
#include "ledger/governed_page.h"
#include "ledger/outside_text.h"

namespace weir::ledger {
namespace {

constexpr std::size_t kNamedArguments = 3;  // the program and two more: python -m mlx_lm.server

std::string_view base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

/// Whether one of the first words of its command line has this base name.
bool is_called(const PageReading& page, std::string_view name) {
  if (page.command == name) return true;
  const auto text = read_text("/proc/" + std::to_string(page.pid) + "/cmdline", 1U << 20);
  if (!text) return false;
  std::string_view left = *text;
  for (std::size_t i = 0; i < kNamedArguments && !left.empty(); ++i) {
    const std::string_view word = left.substr(0, left.find('\0'));
    if (base_name(word) == name) return true;
    left.remove_prefix(std::min(left.size(), word.size() + 1));
  }
  return false;
}

/// Living processes that weir governs, each once: of two pages of one process the later rules.
std::vector<PageReading> living(const std::filesystem::path& folder) {
  std::vector<PageReading> found;
  for (PageReading& page : read_pages(folder, std::nullopt)) {
    if (!page.alive || page.state == wire::PageState::kOff || page.state == wire::PageState::kExited)
      continue;
    if (found.empty() || found.back().pid != page.pid) {
      found.push_back(std::move(page));
    } else if (page.started_ns > found.back().started_ns) {
      found.back() = std::move(page);
    }
  }
  return found;
}

std::string list_of(const std::vector<PageReading>& pages) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(pages.size(), kShown); ++i)
    list += (i == 0 ? "" : ", ") + std::to_string(pages[i].pid) + " (" + pages[i].command + ")";
  if (pages.size() > kShown) list += ", and " + std::to_string(pages.size() - kShown) + " more";
  return list;
}

}  // namespace

Result<PageReading> find_governed(const std::filesystem::path& folder, std::string_view pid_or_name) {
  const std::vector<PageReading> all = living(folder);
  pid_t pid = 0;
  const char* const end = pid_or_name.data() + pid_or_name.size();
  const auto [stopped, error] = std::from_chars(pid_or_name.data(), end, pid);
  const bool is_pid = error == std::errc() && stopped == end;
  std::vector<PageReading> meant;
  std::copy_if(all.begin(), all.end(), std::back_inserter(meant), [&](const PageReading& page) {
    return is_pid ? page.pid == pid : is_called(page, pid_or_name);
  });
  if (meant.size() == 1) return std::move(meant.front());
  const std::string word = "'" + fit_for_output(pid_or_name.substr(0, 100)) + "'";
  if (!meant.empty())
    return fail(ErrorKind::kUsage, word,
                "several governed processes are called so: " + list_of(meant) + "; name one by its pid");
  return fail(
      ErrorKind::kUsage, word,
      "no living governed process " + std::string(is_pid ? "has this pid" : "is called so") +
          (all.empty() ? "; none is there at all: start one by weir run" : "; there are: " + list_of(all)));
}

}  // namespace weir::ledger
