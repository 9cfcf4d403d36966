#include "ledger/cgroup_tree.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace weir::ledger {
namespace cgroup_tree {
namespace {

namespace fs = std::filesystem;

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (take(list, ',') == word) return true;
  return false;
}

/// mountinfo writes space, tab, newline and backslash as \ooo.
std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto is_octal = [&](std::size_t at) { return text[at] >= '0' && text[at] <= '7'; };
    if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] <= '3' && is_octal(i + 1) && is_octal(i + 2) &&
        is_octal(i + 3)) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace

std::string_view take(std::string_view& rest, char separator) {
  const std::string_view word = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), word.size() + 1));
  return word;
}

std::optional<std::int64_t> parse_number(std::string_view text) {
  while (!text.empty() && text.back() == '\n')
    text.remove_suffix(1);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::optional<fs::path> below_mount(std::string_view cgroup, const std::string& mount_root) {
  if (mount_root != "/") {
    if (!cgroup.starts_with(mount_root)) return std::nullopt;
    cgroup.remove_prefix(mount_root.size());
    if (!cgroup.empty() && cgroup.front() != '/') return std::nullopt;
  }
  fs::path relative = fs::path(cgroup).relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") return std::nullopt;
  if (!relative.has_filename()) relative = relative.parent_path();  // "a/" and "./" end in an empty name
  return relative == "." ? fs::path{} : relative;
}

std::optional<Place> find_place(pid_t pid, const fs::path& root) {
  const fs::path process = pid == 0 ? fs::path("proc/self") : fs::path("proc") / std::to_string(pid);
  const Result<std::string> cgroup = read_text(root / process / "cgroup", kLargestFile);
  const Result<std::string> mountinfo = read_text(root / "proc/self/mountinfo", 16 * kLargestFile);
  if (!cgroup || !mountinfo) return std::nullopt;
  const CgroupMembership membership = parse_cgroup(*cgroup);
  const bool v2 = !membership.memory_v1;
  const std::optional<std::string>& path = v2 ? membership.v2 : membership.memory_v1;
  if (!path) return std::nullopt;
  std::optional<Place> nearest;
  for (CgroupMount& mount : parse_cgroup_mounts(*mountinfo)) {
    if (mount.v2 != v2) continue;
    const std::optional<fs::path> below = below_mount(*path, mount.root);
    if (below) return Place{std::move(mount), *path, *below, false};
    if (!nearest) nearest = Place{std::move(mount), *path, {}, true};
  }
  return nearest;
}

}  // namespace cgroup_tree

using cgroup_tree::take;

CgroupMembership parse_cgroup(std::string_view text) {
  CgroupMembership membership;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view id = take(line, ':');
    const std::string_view controllers = take(line, ':');
    if (!line.starts_with('/')) continue;
    if (cgroup_tree::has_word(controllers, "memory")) membership.memory_v1 = line;
    if (id == "0" && controllers.empty()) membership.v2 = line;
  }
  return membership;
}

std::vector<CgroupMount> parse_cgroup_mounts(std::string_view mountinfo) {
  std::vector<CgroupMount> mounts;
  while (!mountinfo.empty()) {
    std::string_view line = take(mountinfo, '\n');
    for (int skipped = 0; skipped < 3; ++skipped)
      take(line, ' ');  // mount id, parent id, device
    const std::string_view mount_root = take(line, ' ');
    const std::string_view point = take(line, ' ');
    const std::size_t separator = line.find(" - ");
    if (separator == std::string_view::npos || !point.starts_with('/')) continue;
    line.remove_prefix(separator + 3);
    const std::string_view type = take(line, ' ');
    take(line, ' ');  // the mounted source
    const bool v2 = type == "cgroup2";
    if (v2 || (type == "cgroup" && cgroup_tree::has_word(line, "memory")))
      mounts.push_back({v2, cgroup_tree::unescape(mount_root), cgroup_tree::unescape(point)});
  }
  return mounts;
}

CgroupEvents parse_cgroup_events(std::string_view text) {
  CgroupEvents events;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view key = take(line, ' ');
    if (key == "high") events.high = cgroup_tree::parse_number(line);
    if (key == "max") events.max = cgroup_tree::parse_number(line);
    if (key == "oom_kill") events.oom_kill = cgroup_tree::parse_number(line);
  }
  return events;
}

}  // namespace weir::ledger
