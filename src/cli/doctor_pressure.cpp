#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/doctor_rules.h"

namespace weir::cli {
namespace {

constexpr std::int64_t kUsualSwappiness = 60;
constexpr std::int64_t kWorthNaming = 64 << 20;

/// Swap that is compressed memory is fast, so only the rest counts.
void find_swap(const ledger::Swap& swap, Findings& findings) {
  const std::int64_t on_disk = swap.total - swap.compressed;
  if (swap.used >= kWorthNaming)
    findings.push_back(
        {"swapping", "warning",
         fmt::format(
             "{} of {} of swap are in use{}: a freed buffer that is kept may lie there, and its reuse "
             "reads it back; the footprint counts it",
             exact_bytes(swap.used), exact_bytes(swap.total),
             swap.compressed > 0 ? fmt::format(" ({} of it is zram)", exact_bytes(swap.compressed)) : ""),
         "weir ctl PID return, or weir run --cache-limit 0 -- COMMAND: nothing is kept that could be "
         "swapped"});
  if (on_disk > 0 && swap.swappiness.value_or(0) > kUsualSwappiness)
    findings.push_back(
        {"swappiness", "note",
         fmt::format("vm.swappiness is {}: beside {} of swap on disks the kernel sooner writes buffers out "
                     "than it drops cached files",
                     *swap.swappiness, exact_bytes(on_disk)),
         fmt::format("sudo sysctl -w vm.swappiness={}", kUsualSwappiness)});
}

void find_pressure_stall(const DoctorFacts& facts, Findings& findings) {
  if (facts.settings.pressure_told) return;
  findings.push_back(
      {"no-pressure", "warning",
       fmt::format("the kernel does not tell when programs wait for memory (no /proc/pressure/memory): "
                   "`--trim-at pressure` then acts on {}",
                   facts.cgroup.high_bytes || facts.cgroup.limit_bytes ? "the cgroup's bound alone"
                                                                       : "a neighbour's need alone"),
       "boot with psi=1, on a kernel with CONFIG_PSI"});
}

/// On Linux MLX's wired limit wires nothing, and the kernel lets nobody wire more than this.
void find_wired(const DoctorFacts& facts, Findings& findings) {
  for (const auto& [name, value] : facts.variables) {
    if (name.find("WIRED") == std::string::npos || name.find("LIMIT") == std::string::npos) continue;
    findings.push_back(
        {"wired-limit", "warning",
         fmt::format("{}: MLX wires memory on Metal alone; here set_wired_limit does nothing, and a process "
                     "could lock {} (RLIMIT_MEMLOCK)",
                     name,
                     facts.settings.limits.locked ? exact_bytes(*facts.settings.limits.locked) : "all of it"),
         "unset " + name});
  }
  for (const GovernedGlance& process : facts.places.governed) {
    if (process.locked_bytes == 0 || !process.over_pool) continue;
    findings.push_back(
        {"locked-memory", "warning",
         fmt::format("{} (pid {}) has locked {}{}: the kernel takes nothing of that back, so a return there "
                     "frees less, and locking all (mlockall) fills the pool's addresses",
                     process.command, process.pid, exact_bytes(process.locked_bytes),
                     facts.settings.limits.locked
                         ? fmt::format(" (RLIMIT_MEMLOCK {})", exact_bytes(*facts.settings.limits.locked))
                         : ""),
         "weir run --allocator mlx -- COMMAND"});
  }
}

}  // namespace

void find_pressure(const DoctorFacts& facts, Findings& findings) {
  find_swap(facts.settings.swap, findings);
  find_pressure_stall(facts, findings);
  find_wired(facts, findings);
}

}  // namespace weir::cli
