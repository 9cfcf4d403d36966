#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/doctor_rules.h"
#include "ledger/outside_text.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

constexpr const char* kAgentFile = "weir_agent";

/// A variable that tunes an allocator, and the allocator.
struct Tuning {
  std::string_view prefix, allocator;
};
constexpr std::array<Tuning, 5> kTunings = {{
    {"MALLOC_CONF", "jemalloc"},
    {"_RJEM_MALLOC_CONF", "jemalloc"},
    {"TCMALLOC_", "tcmalloc"},
    {"MIMALLOC_", "mimalloc"},
    {"HEAPPROFILE", "tcmalloc"},
}};

/// Variables of glibc's malloc that change what its heap keeps.
constexpr std::array<std::string_view, 5> kHeapVariables = {"MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_",
                                                            "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_",
                                                            "MALLOC_MMAP_MAX_"};

/// Variables that MLX itself reads and that move how much is held at once.
struct MlxVariable {
  std::string_view name, what;
};
constexpr std::array<MlxVariable, 4> kMlxVariables = {{
    {"MLX_BFS_MAX_WIDTH", "how wide a graph is evaluated, and so how much is live at once"},
    {"MLX_MAX_OPS_PER_BUFFER", "how many operations a GPU gets at once, and so how long buffers stay live"},
    {"MLX_MAX_MB_PER_BUFFER", "how many megabytes a GPU gets at once, and so how long buffers stay live"},
    {"MLX_RESIDENCY_SET_MAX_PCT", "how much memory Metal keeps wired"},
}};

std::vector<std::string> preloads_of(const DoctorFacts& facts) {
  const auto found = facts.variables.find(std::string_view("LD_PRELOAD"));
  return found == facts.variables.end() ? std::vector<std::string>{} : preload_names(found->second, false);
}

void find_allocators(const std::vector<std::string>& libraries, const std::string& where,
                     const std::string& mend, Findings& findings) {
  for (const std::string& library : libraries) {
    const std::string allocator = allocator_in(library);
    if (allocator.empty()) continue;
    findings.push_back(
        {"other-allocator", "warning",
         fmt::format("{} puts {} ({}) in the C heap's place: weir's pool is not touched by it, but heap idle "
                     "is then unknown and stands under unexplained, and a return cannot trim that heap",
                     where, allocator, ledger::fit_for_output(library)),
         mend});
  }
}

void find_tunings(const DoctorFacts& facts, const std::vector<std::string>& preloads, Findings& findings) {
  const auto is_there = [&](std::string_view allocator) {
    for (const std::vector<std::string>* list : {&preloads, &facts.neighbours.preloaded})
      for (const std::string& library : *list)
        if (allocator_in(library) == allocator) return true;
    return false;
  };
  for (const auto& [name, value] : facts.variables) {
    for (const Tuning& tuning : kTunings) {
      if (!std::string_view(name).starts_with(tuning.prefix) || is_there(tuning.allocator)) continue;
      findings.push_back({"tuned-allocator", "note",
                          fmt::format("{} tunes {}, which is not preloaded here: only a program that is "
                                      "linked with it reads that, and its heap is then not glibc's",
                                      ledger::fit_for_output(name), tuning.allocator),
                          "unset " + ledger::fit_for_output(name)});
      break;
    }
  }
}

void find_heap_variables(const DoctorFacts& facts, Findings& findings) {
  const auto add = [&](std::string_view name, const std::string& value) {
    findings.push_back({"tuned-heap", "note",
                        fmt::format("{}={} changes what the C heap keeps: heap idle, and what MLX's own "
                                    "allocator gives back",
                                    name, ledger::fit_for_output(value)),
                        fmt::format("unset {}", name)});
  };
  for (const std::string_view name : kHeapVariables)
    if (const auto found = facts.variables.find(name); found != facts.variables.end())
      add(name, found->second);
  const auto tunables = facts.variables.find(std::string_view("GLIBC_TUNABLES"));
  if (tunables != facts.variables.end() && tunables->second.find("glibc.malloc.") != std::string::npos)
    add("GLIBC_TUNABLES", tunables->second);
}

void find_mlx_variables(const DoctorFacts& facts, Findings& findings) {
  for (const MlxVariable& known : kMlxVariables) {
    const auto found = facts.variables.find(known.name);
    if (found == facts.variables.end()) continue;
    findings.push_back({"mlx-variable", "note",
                        fmt::format("{}={} is read by MLX: {}", known.name,
                                    ledger::fit_for_output(found->second), known.what),
                        fmt::format("unset {} to measure what others get", known.name)});
  }
}

void find_outer_run(const DoctorFacts& facts, const std::vector<std::string>& preloads, Findings& findings) {
  const auto agent = facts.variables.find(std::string_view(wire::kAgentVariable));
  wire::AgentSettings settings;
  if (agent != facts.variables.end() && wire::parse_settings(agent->second.c_str(), settings)) {
    const auto words = [](std::uint64_t bytes) {
      return bytes == wire::kNoLimit ? "none" : exact_bytes(static_cast<std::int64_t>(bytes));
    };
    findings.push_back(
        {"inside-run", "note",
         fmt::format("a weir run (pid {}) governs what is started here (cache limit {}, memory limit {}): "
                     "inside another one the smaller limits hold",
                     settings.run, settings.cache_unset ? "unset" : words(settings.cache_limit),
                     words(settings.memory_limit)),
         "start it from a shell outside of that run"});
  } else if (agent != facts.variables.end()) {
    findings.push_back(
        {"foreign-agent", "warning",
         "WEIR_AGENT is set by another version of weir, or by hand: what is started here is not "
         "governed, or by that version",
         "unset WEIR_AGENT WEIR_AGENT_PAGES"});
  }
  std::size_t agents = 0;
  for (const std::string& library : preloads)
    agents += library.find(kAgentFile) != std::string::npos ? 1 : 0;
  if (agents > 1 || (agents == 1 && agent == facts.variables.end()))
    findings.push_back({"stray-agent", "warning",
                        fmt::format("LD_PRELOAD names weir's agent {}: it is weir run's to set",
                                    agents > 1 ? fmt::format("{} times", agents) : "outside of a run"),
                        "unset LD_PRELOAD"});
}

void find_governed_twice(const DoctorFacts& facts, Findings& findings) {
  for (const GovernedGlance& process : facts.places.governed) {
    if (process.pages < 2) continue;
    findings.push_back(
        {"governed-twice", "warning",
         fmt::format("{} runs count {} (pid {}) as theirs, and each sets limits of its own: the smaller hold",
                     process.pages, process.command, process.pid),
         "start it under one weir run"});
  }
}

void find_killers(const DoctorFacts& facts, Findings& findings) {
  for (const NamedProcess& killer : facts.neighbours.killers)
    findings.push_back(
        {"killer-daemon", "note",
         fmt::format("{} (pid {}) ends processes by pressure or swap before the kernel would: the largest "
                     "often goes first, which is the one with the model",
                     killer.name, killer.pid),
         "weir run --memory-limit SIZE --trim-at idle=30,pressure -- COMMAND: it gives back first"});
}

}  // namespace

void find_governors(const DoctorFacts& facts, Findings& findings) {
  const std::vector<std::string> preloads = preloads_of(facts);
  find_allocators(preloads, "LD_PRELOAD", "env -u LD_PRELOAD weir run -- COMMAND", findings);
  find_allocators(facts.neighbours.preloaded, "/etc/ld.so.preload", "take its line out of /etc/ld.so.preload",
                  findings);
  find_tunings(facts, preloads, findings);
  find_heap_variables(facts, findings);
  find_mlx_variables(facts, findings);
  find_outer_run(facts, preloads, findings);
  find_governed_twice(facts, findings);
  find_killers(facts, findings);
}

}  // namespace weir::cli
