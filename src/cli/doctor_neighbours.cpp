#include "cli/doctor_neighbours.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/file.h"

namespace weir::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostProcesses = 100'000;
constexpr std::size_t kLargestFile = 1u << 20;

/// Names as /proc/PID/comm has them: at most 15 bytes.
constexpr std::array<std::string_view, 5> kKillers = {"systemd-oomd", "earlyoom", "nohang", "oomd", "bustd"};

/// A part of the file's name, and what it is.
struct Replacement {
  std::string_view part, name;
};
constexpr std::array<Replacement, 10> kAllocators = {{
    {"jemalloc", "jemalloc"},
    {"tcmalloc", "tcmalloc"},
    {"mimalloc", "mimalloc"},
    {"snmalloc", "snmalloc"},
    {"rpmalloc", "rpmalloc"},
    {"libhoard", "Hoard"},
    {"scudo", "Scudo"},
    {"libtbbmalloc_proxy", "TBB malloc"},
    {"heaptrack", "heaptrack"},
    {"libasan", "AddressSanitizer"},
}};

bool is_separator(char c, bool is_file) {
  return c == ' ' || c == ':' || (is_file && (c == '\t' || c == '\n' || c == '\r'));
}

std::vector<NamedProcess> find_killers(const fs::path& root) {
  std::vector<NamedProcess> found;
  std::error_code trouble;
  std::size_t looked = 0;
  for (fs::directory_iterator at(root / "proc", trouble), end;
       !trouble && at != end && looked < kMostProcesses; at.increment(trouble), ++looked) {
    const std::string digits = at->path().filename().string();
    pid_t pid = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), pid);
    if (error != std::errc{} || stop != digits.data() + digits.size()) continue;
    std::string name = read_text(at->path() / "comm", 64).value_or("");
    while (!name.empty() && name.back() == '\n')
      name.pop_back();
    if (std::find(kKillers.begin(), kKillers.end(), name) != kKillers.end()) found.push_back({pid, name});
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return found;
}

}  // namespace

std::vector<std::string> preload_names(std::string_view text, bool is_file) {
  std::vector<std::string> names;
  std::string name;
  const auto end_name = [&] {
    if (!name.empty()) names.push_back(std::move(name));
    name.clear();
  };
  bool in_comment = false;
  for (const char c : text) {
    if (is_file && c == '#') in_comment = true;
    if (c == '\n') in_comment = false;
    if (in_comment || is_separator(c, is_file))
      end_name();
    else
      name += c;
  }
  end_name();
  return names;
}

std::string allocator_in(std::string_view library) {
  const std::string_view file = library.substr(library.rfind('/') + 1);
  for (const Replacement& known : kAllocators)
    if (file.find(known.part) != std::string_view::npos) return std::string(known.name);
  return "";
}

Neighbours neighbours(const fs::path& root) {
  Neighbours found;
  if (const auto text = read_text(root / "etc/ld.so.preload", kLargestFile))
    found.preloaded = preload_names(*text, true);
  found.killers = find_killers(root);
  return found;
}

}  // namespace weir::cli
