#include "cli/process_limits.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "cli/allocator_flag.h"

namespace weir::cli {
namespace {

/// What is known of one knob.
struct Evidence {
  std::uint64_t in_force = wire::kNoLimit;
  const ledger::ActReading* act = nullptr;  ///< The latest one that set it.
  /// What weir run asked for; without `started` not known.
  std::optional<std::uint64_t> asked;
  /// What the allocator does where nobody asks.
  std::uint64_t absent = wire::kNoLimit;
  bool started_known = false;
  bool by_run = false;
  bool program_sets = false;
};

const ledger::ActReading* latest(const ledger::PageReading& page,
                                 std::initializer_list<wire::ActKind> kinds) {
  for (auto act = page.acts.rbegin(); act != page.acts.rend(); ++act)
    if (std::find(kinds.begin(), kinds.end(), act->kind) != kinds.end()) return &*act;
  return nullptr;
}

const char* cause_name(wire::ActCause cause) {
  switch (cause) {
    case wire::ActCause::kControl:
      return "ctl";
    case wire::ActCause::kWindow:
      return "adapted by weir";
    case wire::ActCause::kRequestEnd:
    case wire::ActCause::kPhase:
    case wire::ActCause::kIdle:
    case wire::ActCause::kPressure:
    case wire::ActCause::kNeighbour:
      break;
  }
  return "weir, at a boundary";
}

/// Who asked for it; "" for nobody.
std::string author(const Evidence& known) {
  if (known.act != nullptr) {
    const std::string actor = cause_name(known.act->cause);
    return known.act->argument == known.in_force || !known.program_sets ? actor : actor + " or program";
  }
  if (known.started_known && known.asked) {
    if (*known.asked == known.in_force) return "weir run";
    return known.program_sets ? "program" : "weir run or program";
  }
  if (known.in_force == known.absent && (known.started_known || !known.by_run) && !known.program_sets)
    return "";
  if (known.started_known || !known.by_run) return "program";
  return known.program_sets ? "weir run or program" : "weir run";
}

limits::Setting setting_of(limits::Knob knob, const ledger::PageReading& page, const Evidence& known) {
  const limits::BackendRules& rules = rules_of(page.allocator);
  limits::Setting setting;
  const std::string who = author(known);
  setting.source = fmt::format("process {}: {}", page.pid, who.empty() ? limits::kLibraryDefault : who);
  setting.rules = rules.rules(knob);
  if (known.in_force != wire::kNoLimit) setting.effective_bytes = static_cast<std::int64_t>(known.in_force);
  if (who.empty()) {
    setting.mode = limits::Mode::kUnset;
    if (!setting.effective_bytes) setting.unset_text = rules.unset_text(knob);
    return setting;
  }
  setting.mode = setting.effective_bytes ? limits::Mode::kBytes : limits::Mode::kUnlimited;
  setting.bytes = setting.effective_bytes;
  return setting;
}

Evidence common_evidence(const ledger::PageReading& page, const std::optional<wire::AgentSettings>& started) {
  Evidence known;
  known.started_known = started.has_value();
  known.by_run = page.run != 0;
  known.program_sets = page.host_limits > 0;
  return known;
}

}  // namespace

limits::Resolved limits_in_force(const ledger::PageReading& page,
                                 const std::optional<wire::AgentSettings>& started) {
  limits::Resolved resolved;
  Evidence cache = common_evidence(page, started);
  cache.in_force = page.cache_limit;
  cache.act = latest(page, {wire::ActKind::kSetCacheLimit});
  if (started && !started->cache_unset) cache.asked = started->cache_limit;
  if (const auto bytes = rules_of(page.allocator).default_cache_limit_bytes)
    cache.absent = static_cast<std::uint64_t>(*bytes);
  resolved.cache_limit = setting_of(limits::Knob::kCacheLimit, page, cache);
  Evidence memory = common_evidence(page, started);
  memory.in_force = page.memory_limit;
  memory.act = latest(page, {wire::ActKind::kSetMemoryLimit, wire::ActKind::kAdaptMemoryLimit});
  if (started && started->memory_limit != wire::kNoLimit) memory.asked = started->memory_limit;
  resolved.memory_limit = setting_of(limits::Knob::kMemoryLimit, page, memory);
  if (page.host_limits > 0)
    resolved.warnings.push_back(
        {"program",
         fmt::format("{} has set limits itself {} time{}; of its own and weir's the smaller holds, "
                     "unless it runs under --enforce",
                     page.command, page.host_limits, page.host_limits == 1 ? "" : "s")});
  return resolved;
}

std::optional<wire::AgentSettings> settings_at_start(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/environ", pid), std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const std::string name = std::string(wire::kAgentVariable) + "=";
  wire::AgentSettings settings;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    const std::string entry = text.substr(at, end - at);
    if (entry.rfind(name, 0) == 0 && wire::parse_settings(entry.c_str() + name.size(), settings))
      return settings;
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace weir::cli
