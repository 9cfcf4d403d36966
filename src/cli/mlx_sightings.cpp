#include "cli/mlx_sightings.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/file.h"
#include "ledger/outside_text.h"

namespace weir::cli {
namespace {

constexpr std::chrono::milliseconds kLongestWait{5'000};
constexpr std::size_t kMostProcesses = 1'000;
constexpr std::size_t kMostMapsBytes = 16u << 20;

std::string process_file(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

/// Children of all threads of `pid`, as far as the kernel tells.
std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> children;
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator(process_file(pid, "task"), ignored)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t child = 0; list >> child;)
      children.push_back(child);
  }
  return children;
}

std::string command_of(pid_t pid) {
  std::error_code ignored;
  const auto program = std::filesystem::read_symlink(process_file(pid, "exe"), ignored);
  return ledger::fit_for_output(program.filename().string());
}

}  // namespace

MappedLibraries mapped_libraries(std::string_view maps) {
  MappedLibraries found;
  for (std::size_t at = 0; at < maps.size();) {
    const std::size_t end = std::min(maps.find('\n', at), maps.size());
    const std::string_view line = maps.substr(at, end - at);
    const std::size_t slash = line.rfind('/');
    if (slash != std::string_view::npos) {
      const std::string_view name = line.substr(slash + 1);
      found.mlx |= name.substr(0, 9) == "libmlx.so";
      found.agent |= name.substr(0, 16) == "libweir_agent.so";
      found.core |= name.substr(0, 15) == "libweir_core.so";
    }
    at = end + 1;
  }
  return found;
}

pid_t innermost_pid(std::string_view status) {
  constexpr std::string_view kKey = "\nNSpid:";
  const std::size_t at = status.find(kKey);
  if (at == std::string_view::npos) return 0;
  std::string_view line = status.substr(at + kKey.size());
  line = line.substr(0, line.find('\n'));
  line.remove_prefix(std::min(line.size(), line.find_last_of(" \t") + 1));
  pid_t pid = 0;
  const auto [end, trouble] = std::from_chars(line.data(), line.data() + line.size(), pid);
  return trouble == std::errc() && end == line.data() + line.size() && pid > 0 ? pid : 0;
}

void MlxSightings::look_if_due(std::chrono::milliseconds since_start) {
  if (since_start < next_) return;
  look();
  next_ = since_start + std::clamp(since_start, std::chrono::milliseconds{100}, kLongestWait);
}

void MlxSightings::look() {
  std::vector<pid_t> todo = {root_};
  for (std::size_t i = 0; i < todo.size() && i < kMostProcesses; ++i) {
    look_at(todo[i]);
    const std::vector<pid_t> children = children_of(todo[i]);
    todo.insert(todo.end(), children.begin(), children.end());
  }
}

void MlxSightings::look_at(pid_t pid) {
  const auto maps = read_text(process_file(pid, "maps"), kMostMapsBytes);
  if (!maps) return;  // gone, or not ours to read
  const MappedLibraries libraries = mapped_libraries(*maps);
  if (!libraries.mlx) return;
  const auto status = read_text(process_file(pid, "status"));
  seen_[pid] = {command_of(pid), libraries, status ? innermost_pid(*status) : 0};
}

}  // namespace weir::cli
