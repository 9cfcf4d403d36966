#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/doctor_rules.h"
#include "limits/backend_rules.h"

namespace weir::cli {
namespace {

/// The command that moves a cgroup's bound, by who made it. `file` is the bound's own.
std::string raise_command(const ledger::CgroupName& name, const std::string& file) {
  if (name.manager == "docker" || name.manager == "podman")
    return name.manager + " update --memory SIZE " + (name.instance.empty() ? "CONTAINER" : name.instance);
  if (name.manager == "kubernetes") return "raise resources.limits.memory of the pod";
  if (name.manager == "slurm") return "ask for more with sbatch --mem SIZE";
  if (name.manager == "systemd")
    return "systemctl set-property " + name.instance +
           (file.ends_with("memory.high") ? " MemoryHigh=SIZE" : " MemoryMax=SIZE");
  return "echo SIZE | sudo tee " + file;
}

std::string default_words(const ledger::MachineMemory& memory) {
  const auto own =
      limits::mlx_cpu_rules().default_bytes(limits::Knob::kMemoryLimit, memory.total_bytes).value_or(0);
  return fmt::format("MLX's own memory limit goes by RAM ({}) and does not see it", exact_bytes(own));
}

void find_cgroup_limit(const DoctorFacts& facts, const ledger::MachineMemory& memory, Findings& findings) {
  if (!memory.cgroup_limit_bytes || *memory.cgroup_limit_bytes >= memory.total_bytes) return;
  findings.push_back({"cgroup-below-ram", "warning",
                      fmt::format("{} allows {} of {} of RAM ({}); {}", cgroup_words(facts.cgroup_name),
                                  exact_bytes(*memory.cgroup_limit_bytes), exact_bytes(memory.total_bytes),
                                  memory.cgroup_source, default_words(memory)),
                      "weir run --memory-limit 90%free -- COMMAND (free heeds the cgroup); or " +
                          raise_command(facts.cgroup_name, memory.cgroup_source)});
}

void find_cgroup_high(const DoctorFacts& facts, const ledger::MachineMemory& memory, Findings& findings) {
  const ledger::CgroupMemory& cgroup = facts.cgroup;
  if (!cgroup.high_bytes || *cgroup.high_bytes >= cgroup.limit_bytes.value_or(memory.total_bytes)) return;
  findings.push_back({"cgroup-high", "warning",
                      fmt::format("{} slows down whoever takes it over {} of {} of RAM ({}); {}",
                                  cgroup_words(facts.cgroup_name), exact_bytes(*cgroup.high_bytes),
                                  exact_bytes(memory.total_bytes), cgroup.high_source, default_words(memory)),
                      "weir run --memory-limit 90%free -- COMMAND (free heeds it); or " +
                          raise_command(facts.cgroup_name, cgroup.high_source)});
}

void find_cgroup_events(const DoctorFacts& facts, Findings& findings) {
  const ledger::CgroupEvents& events = facts.cgroup.events;
  if (events.oom_kill.value_or(0) > 0)
    findings.push_back(
        {"cgroup-killed", "warning",
         fmt::format("{} met its limit {} times, and {} of its processes were killed for it ({})",
                     cgroup_words(facts.cgroup_name), events.max.value_or(0), *events.oom_kill,
                     facts.cgroup.source),
         "weir run --memory-limit 90%free -- COMMAND: one request fails instead of the process"});
  if (events.high.value_or(0) > 0)
    findings.push_back(
        {"cgroup-slowed", "warning",
         fmt::format("{} was slowed down {} times for passing {} ({})", cgroup_words(facts.cgroup_name),
                     *events.high, exact_bytes(facts.cgroup.high_bytes.value_or(0)),
                     facts.cgroup.high_source),
         "weir run --trim-at pressure --cache-limit 0 -- COMMAND: nothing is kept there"});
}

/// A limit above what this namespace shows cannot be read, so no percentage can heed it.
void find_hidden_cgroup(const DoctorFacts& facts, Findings& findings) {
  if (!facts.cgroup_name.hidden || facts.cgroup.limit_bytes || facts.cgroup.high_bytes) return;
  findings.push_back({"cgroup-hidden", "note",
                      fmt::format("{} hides the cgroups above it: a limit there cannot be seen, and `%free` "
                                  "and `%total` would be of more than it allows",
                                  cgroup_words(facts.cgroup_name)),
                      "weir run --memory-limit SIZE -- COMMAND, with SIZE in bytes"});
}

void find_rlimit(const ledger::Bytes& limit, const char* name, const char* flag, const char* effect,
                 const ledger::MachineMemory& memory, Findings& findings) {
  if (!limit || *limit >= memory.total_bytes) return;
  findings.push_back(
      {"rlimit-below-ram", "warning",
       fmt::format("{} allows {} of {} of RAM; {}: what it asks above that is a null buffer, and "
                   "it crashes. {}",
                   name, exact_bytes(*limit), exact_bytes(memory.total_bytes), default_words(memory), effect),
       fmt::format("ulimit -{} unlimited in the shell that starts it, or weir run --memory-limit {} -- "
                   "COMMAND: an allocation above that fails cleanly",
                   flag, *limit / 10 * 8)});
}

}  // namespace

std::string cgroup_words(const ledger::CgroupName& name) {
  const std::string label = name.label();
  return label.empty() ? "a cgroup" : "the cgroup of " + label;
}

std::optional<Bound> smallest_bound(const DoctorFacts& facts) {
  if (!facts.memory) return std::nullopt;
  std::optional<Bound> smallest;
  const auto offer = [&](const ledger::Bytes& bytes, const std::string& who) {
    if (bytes && *bytes < (smallest ? smallest->bytes : facts.memory->total_bytes))
      smallest = Bound{*bytes, who};
  };
  const std::string words = cgroup_words(facts.cgroup_name);
  offer(facts.memory->cgroup_limit_bytes, words + " (" + facts.memory->cgroup_source + ")");
  offer(facts.cgroup.high_bytes, words + " (" + facts.cgroup.high_source + ")");
  offer(facts.settings.limits.address_space, "RLIMIT_AS");
  offer(facts.settings.limits.data, "RLIMIT_DATA");
  return smallest;
}

void find_bounds(const DoctorFacts& facts, Findings& findings) {
  if (!facts.memory) {
    findings.push_back({"memory-unknown", "error", describe(facts.memory.error()),
                        "mount /proc; until then write limits in bytes, not in percent"});
    return;
  }
  find_cgroup_limit(facts, *facts.memory, findings);
  find_cgroup_high(facts, *facts.memory, findings);
  find_cgroup_events(facts, findings);
  find_hidden_cgroup(facts, findings);
  find_rlimit(facts.settings.limits.address_space, "RLIMIT_AS", "v",
              "weir's pool then reserves nothing and takes ranges of 64 MiB on demand", *facts.memory,
              findings);
  find_rlimit(facts.settings.limits.data, "RLIMIT_DATA", "d",
              "weir's pool then makes memory writable as it is backed, and moves nothing", *facts.memory,
              findings);
}

}  // namespace weir::cli
