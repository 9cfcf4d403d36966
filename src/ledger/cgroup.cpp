#include "ledger/cgroup.h"

#include <algorithm>
#include <charconv>

#include "base/file.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;

/// v1 writes "no limit" as the largest page-aligned number; no machine has an exbibyte.
constexpr std::int64_t kNoLimitFrom = std::int64_t{1} << 60;
constexpr std::size_t kLargestFile = 1u << 20;

struct FileNames {
  const char* limit;
  const char* usage;
  std::string_view inactive_file;  ///< key in memory.stat, over the whole subtree
};
constexpr FileNames kV1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr FileNames kV2{"memory.max", "memory.current", "inactive_file"};

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

std::optional<std::int64_t> read_number(const fs::path& path) {
  const Result<std::string> text = read_text(path, kLargestFile);
  return text ? parse_number(*text) : std::nullopt;
}

std::optional<std::int64_t> stat_line(const fs::path& path, std::string_view key) {
  const Result<std::string> text = read_text(path, kLargestFile);
  if (!text) return std::nullopt;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = take(rest, '\n');
    if (take(line, ' ') == key) return parse_number(line);
  }
  return std::nullopt;
}

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

/// The path of a cgroup below the mount point. A cgroup outside of what is mounted (another namespace, "/..")
/// is represented by the mount point itself: the nearest that is visible.
fs::path below_mount(const std::string& cgroup, const std::string& mount_root) {
  fs::path relative = cgroup;
  if (mount_root != "/") {
    if (cgroup != mount_root && !cgroup.starts_with(mount_root + "/")) return {};
    relative = cgroup.substr(mount_root.size());
  }
  relative = relative.relative_path().lexically_normal();
  if (!relative.empty() && *relative.begin() == "..") return {};
  return relative == "." ? fs::path{} : relative;
}

void add_level(const fs::path& folder, const FileNames& names, const fs::path& shown, CgroupMemory& memory) {
  const std::optional<std::int64_t> limit = read_number(folder / names.limit);
  if (!limit || *limit >= kNoLimitFrom) return;
  const std::optional<std::int64_t> usage = read_number(folder / names.usage);
  if (!memory.limit_bytes || *limit < *memory.limit_bytes) {
    memory.limit_bytes = limit;
    memory.usage_bytes = usage;
    memory.source = (shown / names.limit).string();
  }
  if (!usage) return;
  const std::int64_t idle =
      std::min(stat_line(folder / "memory.stat", names.inactive_file).value_or(0), *usage);
  const std::int64_t room = std::max<std::int64_t>(0, *limit - (*usage - idle));
  memory.headroom_bytes = std::min(memory.headroom_bytes.value_or(room), room);
}

/// A container sees only its own part of the v1 tree; the kernel still tells the smallest limit above it.
/// Usage up there is not visible, so our own stands in: the head-room is then an upper bound.
void add_hidden_v1_limit(const fs::path& root, const CgroupMount& mount, const std::string& cgroup,
                         CgroupMemory& memory) {
  const fs::path shown = fs::path(mount.point) / below_mount(cgroup, mount.root);
  const fs::path folder = root / shown.relative_path();
  const std::optional<std::int64_t> limit = stat_line(folder / "memory.stat", "hierarchical_memory_limit");
  if (!limit || *limit >= kNoLimitFrom || *limit >= memory.limit_bytes.value_or(kNoLimitFrom)) return;
  memory.limit_bytes = limit;
  memory.usage_bytes = read_number(folder / kV1.usage);
  memory.source = (shown / "memory.stat").string() + " (hierarchical_memory_limit)";
  if (!memory.usage_bytes) return;
  const std::int64_t room = std::max<std::int64_t>(0, *limit - *memory.usage_bytes);
  memory.headroom_bytes = std::min(memory.headroom_bytes.value_or(room), room);
}

CgroupMemory walk_up(const fs::path& root, const CgroupMount& mount, const std::string& cgroup) {
  const FileNames& names = mount.v2 ? kV2 : kV1;
  CgroupMemory memory;
  fs::path relative = below_mount(cgroup, mount.root);
  for (;;) {
    const fs::path shown = relative.empty() ? fs::path(mount.point) : fs::path(mount.point) / relative;
    add_level(root / shown.relative_path(), names, shown, memory);
    if (relative.empty()) break;
    relative = relative.parent_path();
  }
  if (!mount.v2) add_hidden_v1_limit(root, mount, cgroup, memory);
  if (memory.source.empty()) memory.source = std::string(mount.v2 ? "cgroup v2" : "cgroup v1") + ": no limit";
  return memory;
}

}  // namespace

CgroupMembership parse_cgroup(std::string_view text) {
  CgroupMembership membership;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::string_view id = take(line, ':');
    const std::string_view controllers = take(line, ':');
    if (!line.starts_with('/')) continue;
    if (has_word(controllers, "memory")) membership.memory_v1 = line;
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
    if (v2 || (type == "cgroup" && has_word(line, "memory")))
      mounts.push_back({v2, unescape(mount_root), unescape(point)});
  }
  return mounts;
}

CgroupMemory own_cgroup_memory(const fs::path& root) {
  CgroupMemory none;
  const Result<std::string> cgroup = read_text(root / "proc/self/cgroup", kLargestFile);
  const Result<std::string> mountinfo = read_text(root / "proc/self/mountinfo", 16 * kLargestFile);
  none.source = "none: no memory cgroup is visible";
  if (!cgroup || !mountinfo) return none;
  const CgroupMembership membership = parse_cgroup(*cgroup);
  const std::vector<CgroupMount> mounts = parse_cgroup_mounts(*mountinfo);
  const bool v2 = !membership.memory_v1;
  const std::optional<std::string>& path = v2 ? membership.v2 : membership.memory_v1;
  const auto mount =
      std::find_if(mounts.begin(), mounts.end(), [&](const CgroupMount& m) { return m.v2 == v2; });
  if (!path || mount == mounts.end()) return none;
  return walk_up(root, *mount, *path);
}

}  // namespace weir::ledger
