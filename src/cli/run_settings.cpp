#include "cli/run_settings.h"

#include <unistd.h>
#include <algorithm>
#include <string_view>

#include "base/byte_text.h"
#include "cli/trim_at.h"

namespace weir::cli {
namespace {

constexpr std::string_view kPreload = "LD_PRELOAD";

std::uint64_t bytes_or_none(const std::optional<std::int64_t>& bytes) {
  return bytes ? static_cast<std::uint64_t>(*bytes) : wire::kNoLimit;
}

/// Whether the limit comes to what the allocator does by itself, and not to a number or to none.
bool is_left_alone(const limits::Setting& setting) {
  return setting.mode == limits::Mode::kUnset || !setting.unset_text.empty();
}

tl::unexpected<Error> not_hard(const std::string& source, std::uint64_t bytes) {
  return fail(ErrorKind::kUsage, source,
              "a memory limit of " + exact_bytes(static_cast<std::int64_t>(bytes)) +
                  " cannot be kept with --allocator mlx: MLX's own refuses nothing on this backend; use "
                  "--allocator weir (or mlx-policy), or leave the limit out");
}

/// "NAME=value" of `name`?
bool sets(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.substr(0, name.size()) == name && entry[name.size()] == '=';
}

/// The agent in front of what is preloaded already. The dynamic linker splits at spaces and colons.
std::string preload_list(const std::string& agent, std::string_view existing) {
  std::string list = agent;
  for (std::size_t at = 0; at < existing.size();) {
    const std::size_t end = std::min(existing.find_first_of(" :", at), existing.size());
    const std::string_view one = existing.substr(at, end - at);
    if (!one.empty() && one != agent) list.append(":").append(one);
    at = end + 1;
  }
  return list;
}

}  // namespace

std::vector<Flag> govern_flags(GovernFlags& into) {
  return {
      allocator_flag(into.allocator),
      {"--host-clear",
       "WAY",
       "The program's own clear_cache: trim what has aged (age), or everything (honour)",
       &into.host_clear,
       {"age", "honour"}},
      {"--enforce", "", "Undo limits that the program sets itself", &into.enforce},
      {"--children", "yes|no", "Govern what the program starts, too (yes)", &into.children, {"yes", "no"}},
      {"--huge-pages", "on|off", "Let the pool use huge pages (on)", &into.huge_pages, {"on", "off"}},
      {"--trim-at", "LIST",
       "Give memory back by itself at: request, phase, idle=SECONDS, pressure; or none (idle=30,pressure)",
       &into.trim_at},
  };
}

wire::Allocator allocator_of(const GovernFlags& flags) {
  return named_allocator(flags.allocator, wire::Allocator::kWeir);
}

Result<wire::AgentSettings> agent_settings(const GovernFlags& flags, const limits::Resolved& limits,
                                           std::uint64_t run) {
  wire::AgentSettings settings;
  settings.allocator = allocator_of(flags);
  settings.cache_unset = is_left_alone(limits.cache_limit);
  if (!settings.cache_unset) settings.cache_limit = bytes_or_none(limits.cache_limit.effective_bytes);
  if (limits.memory_limit.mode == limits::Mode::kBytes)
    settings.memory_limit = bytes_or_none(limits.memory_limit.bytes);
  settings.host_clear =
      flags.host_clear.value_or("age") == "honour" ? wire::HostClear::kHonour : wire::HostClear::kAge;
  settings.enforce = flags.enforce;
  settings.children = flags.children.value_or("yes") == "yes";
  settings.huge_pages = flags.huge_pages.value_or("on") == "on";
  settings.run = run;
  const auto boundaries = boundaries_of(flags.trim_at, settings.allocator);
  if (!boundaries) return tl::unexpected(boundaries.error());
  settings.trim_at = boundaries->trim_at;
  settings.idle_ms = boundaries->idle_ms;
  if (settings.allocator == wire::Allocator::kMlx && settings.memory_limit != wire::kNoLimit)
    return not_hard(limits.memory_limit.source, settings.memory_limit);
  return settings;
}

std::optional<wire::AgentSettings> surrounding_settings(const limits::Variables& variables) {
  const auto text = variables.find(wire::kAgentVariable);
  wire::AgentSettings settings;
  if (text == variables.end() || !wire::parse_settings(text->second.c_str(), settings)) return std::nullopt;
  return settings;
}

Result<wire::AgentSettings> nested_settings(const wire::AgentSettings& own, const wire::AgentSettings& outer,
                                            bool names_boundaries) {
  wire::AgentSettings settings = own;
  if (!names_boundaries && own.allocator != wire::Allocator::kMlx) {
    settings.trim_at = outer.trim_at;
    settings.idle_ms = outer.idle_ms;
  }
  settings.run = outer.run;
  settings.memory_limit = std::min(own.memory_limit, outer.memory_limit);
  if (!outer.cache_unset) {
    settings.cache_limit = own.cache_unset ? outer.cache_limit : std::min(own.cache_limit, outer.cache_limit);
    settings.cache_unset = false;
  }
  settings.enforce = own.enforce || outer.enforce;
  settings.children = own.children && outer.children;
  if (settings.allocator == wire::Allocator::kMlx && settings.memory_limit != wire::kNoLimit)
    return not_hard("the surrounding weir run", settings.memory_limit);
  return settings;
}

std::vector<std::string> child_environment(const std::vector<std::string>& inherited,
                                           const AgentEnvironment& agent) {
  std::vector<std::string> environment;
  std::optional<std::string> preload;
  for (const std::string& entry : inherited) {
    if (sets(entry, wire::kAgentVariable) || sets(entry, wire::kPagesVariable)) continue;
    if (sets(entry, kPreload) && !agent.agent.empty()) {
      // Of a name given twice the first is the one that counts.
      if (!preload) preload = entry.substr(kPreload.size() + 1);
      continue;
    }
    environment.push_back(entry);
  }
  if (agent.agent.empty()) return environment;
  char text[wire::kSettingsTextBytes];
  const std::size_t length = wire::print_settings(agent.settings, text);
  environment.push_back(std::string(kPreload) + "=" +
                        preload_list(agent.agent.string(), preload.value_or("")));
  environment.push_back(std::string(wire::kAgentVariable) + "=" + std::string(text, length));
  environment.push_back(std::string(wire::kPagesVariable) + "=" + agent.pages.string());
  return environment;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> entries;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    entries.emplace_back(*entry);
  return entries;
}

}  // namespace weir::cli
