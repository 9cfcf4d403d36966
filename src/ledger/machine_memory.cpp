#include "ledger/machine_memory.h"

#include <algorithm>

#include "base/file.h"
#include "ledger/cgroup.h"
#include "ledger/proc_status.h"

namespace weir::ledger {

std::int64_t MachineMemory::free_bytes() const noexcept {
  std::int64_t free = available_bytes;
  if (cgroup_headroom_bytes)
    free = std::min(free, *cgroup_headroom_bytes);
  else if (cgroup_limit_bytes)
    free = std::min(free, *cgroup_limit_bytes - cgroup_usage_bytes.value_or(0));
  return std::max<std::int64_t>(0, free);
}

Result<MachineMemory> machine_memory(const std::filesystem::path& root) {
  const std::filesystem::path path = root / "proc/meminfo";
  const Result<std::string> text = read_text(path, 1u << 20);
  if (!text) return tl::unexpected(text.error());
  const auto total = kilobyte_line(*text, "MemTotal");
  const auto available = kilobyte_line(*text, "MemAvailable");
  if (!total || !available)
    return fail(ErrorKind::kBadData, path.string(),
                std::string("no usable line '") + (total ? "MemAvailable" : "MemTotal") +
                    ": <number> kB'; weir needs Linux 3.14 or newer with /proc");
  CgroupMemory cgroup = own_cgroup_memory(root);
  return MachineMemory{.total_bytes = *total,
                       .available_bytes = *available,
                       .cgroup_limit_bytes = cgroup.limit_bytes,
                       .cgroup_usage_bytes = cgroup.usage_bytes,
                       .cgroup_headroom_bytes = cgroup.headroom_bytes,
                       .cgroup_source = std::move(cgroup.source)};
}

}  // namespace weir::ledger
