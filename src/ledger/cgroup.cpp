#include "ledger/cgroup.h"

#include <algorithm>

#include "base/file.h"
#include "ledger/cgroup_tree.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;
using cgroup_tree::parse_number;
using cgroup_tree::take;

/// v1 writes "no limit" as the largest page-aligned number; no machine has an exbibyte.
constexpr std::int64_t kNoLimitFrom = std::int64_t{1} << 60;

struct FileNames {
  const char* limit;
  const char* high;
  const char* usage;
  std::string_view inactive_file;  ///< key in memory.stat, over the whole subtree
};
constexpr FileNames kV1{"memory.limit_in_bytes", nullptr, "memory.usage_in_bytes", "total_inactive_file"};
constexpr FileNames kV2{"memory.max", "memory.high", "memory.current", "inactive_file"};

std::optional<std::int64_t> read_number(const fs::path& path) {
  const Result<std::string> text = read_text(path, cgroup_tree::kLargestFile);
  return text ? parse_number(*text) : std::nullopt;
}

/// nullopt also for the numbers that mean "none".
std::optional<std::int64_t> read_bound(const fs::path& path) {
  const std::optional<std::int64_t> bound = read_number(path);
  return bound && *bound < kNoLimitFrom ? bound : std::nullopt;
}

std::optional<std::int64_t> stat_line(const fs::path& path, std::string_view key) {
  const Result<std::string> text = read_text(path, cgroup_tree::kLargestFile);
  if (!text) return std::nullopt;
  for (std::string_view rest = *text; !rest.empty();) {
    std::string_view line = take(rest, '\n');
    if (take(line, ' ') == key) return parse_number(line);
  }
  return std::nullopt;
}

CgroupEvents read_events(const fs::path& folder, bool v2) {
  const fs::path file = folder / (v2 ? "memory.events" : "memory.oom_control");
  const Result<std::string> text = read_text(file, cgroup_tree::kLargestFile);
  CgroupEvents events = text ? parse_cgroup_events(*text) : CgroupEvents{};
  if (!v2) events.max = read_number(folder / "memory.failcnt");
  return events;
}

/// One level of the tree: what it bounds, and where it stands.
struct Level {
  fs::path folder;  ///< To read.
  fs::path shown;   ///< To show.
  std::optional<std::int64_t> limit, high, usage;
};

void heed_room(const Level& level, std::int64_t bound, const FileNames& names, CgroupMemory& memory) {
  if (!level.usage) return;
  const std::int64_t idle =
      std::min(stat_line(level.folder / "memory.stat", names.inactive_file).value_or(0), *level.usage);
  const std::int64_t room = std::max<std::int64_t>(0, bound - (*level.usage - idle));
  memory.headroom_bytes = std::min(memory.headroom_bytes.value_or(room), room);
}

void add_limit(const Level& level, bool v2, const FileNames& names, CgroupMemory& memory) {
  if (!level.limit) return;
  if (!memory.limit_bytes || *level.limit < *memory.limit_bytes) {
    memory.limit_bytes = level.limit;
    memory.usage_bytes = level.usage;
    memory.source = (level.shown / names.limit).string();
    const CgroupEvents events = read_events(level.folder, v2);
    memory.events.max = events.max;
    memory.events.oom_kill = events.oom_kill;
  }
  heed_room(level, *level.limit, names, memory);
}

void add_high(const Level& level, const FileNames& names, CgroupMemory& memory) {
  if (!level.high) return;
  if (!memory.high_bytes || *level.high < *memory.high_bytes) {
    memory.high_bytes = level.high;
    memory.high_usage_bytes = level.usage;
    memory.high_source = (level.shown / names.high).string();
    memory.events.high = read_events(level.folder, true).high;
  }
  heed_room(level, *level.high, names, memory);
}

/// A container sees only its own part of the v1 tree; the kernel still tells the smallest limit above it.
/// Usage up there is not visible, so our own stands in: the head-room is then an upper bound.
void add_hidden_v1_limit(const fs::path& root, const cgroup_tree::Place& place, CgroupMemory& memory) {
  const fs::path shown = place.below.empty() ? fs::path(place.mount.point) : place.mount.point / place.below;
  const fs::path folder = root / shown.relative_path();
  const std::optional<std::int64_t> limit = stat_line(folder / "memory.stat", "hierarchical_memory_limit");
  if (!limit || *limit >= kNoLimitFrom || *limit >= memory.limit_bytes.value_or(kNoLimitFrom)) return;
  memory.limit_bytes = limit;
  memory.usage_bytes = read_number(folder / kV1.usage);
  memory.source = (shown / "memory.stat").string() + " (hierarchical_memory_limit)";
  memory.events.max = memory.events.oom_kill = std::nullopt;
  if (!memory.usage_bytes) return;
  const std::int64_t room = std::max<std::int64_t>(0, *limit - *memory.usage_bytes);
  memory.headroom_bytes = std::min(memory.headroom_bytes.value_or(room), room);
}

CgroupMemory walk_up(const fs::path& root, const cgroup_tree::Place& place) {
  const bool v2 = place.mount.v2;
  const FileNames& names = v2 ? kV2 : kV1;
  CgroupMemory memory;
  fs::path relative = place.below;
  for (;;) {
    Level level;
    level.shown = relative.empty() ? fs::path(place.mount.point) : place.mount.point / relative;
    level.folder = root / level.shown.relative_path();
    level.limit = read_bound(level.folder / names.limit);
    if (v2) level.high = read_bound(level.folder / names.high);
    if (level.limit || level.high) level.usage = read_number(level.folder / names.usage);
    add_limit(level, v2, names, memory);
    add_high(level, names, memory);
    if (relative.empty()) break;
    relative = relative.parent_path();
  }
  if (!v2) add_hidden_v1_limit(root, place, memory);
  if (memory.source.empty()) memory.source = std::string(v2 ? "cgroup v2" : "cgroup v1") + ": no limit";
  return memory;
}

}  // namespace

CgroupMemory own_cgroup_memory(const fs::path& root) {
  return process_cgroup_memory(0, root);
}

CgroupMemory process_cgroup_memory(pid_t pid, const fs::path& root) {
  if (const auto place = cgroup_tree::find_place(pid, root)) return walk_up(root, *place);
  CgroupMemory none;
  none.source = "none: no memory cgroup is visible";
  return none;
}

}  // namespace weir::ledger
