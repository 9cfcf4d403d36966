#include <array>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/doctor_rules.h"

namespace weir::cli {
namespace {

using limits::Knob;
using limits::Setting;

/// How the owner writes it: "WEIR_CACHE_LIMIT=64MiB", "--cache-limit 64MiB" for what no variable says.
std::string written(const Setting& setting, const std::string& value) {
  const bool is_variable =
      !setting.source.empty() && setting.source.find_first_of("/:- ") == std::string::npos;
  return is_variable ? "export " + setting.source + "=" + value : "write " + value + " in " + setting.source;
}

/// A tenth below a bound, in whole MiB: room for what the process holds beside buffers.
std::string below(std::int64_t bound) {
  constexpr std::int64_t kMiB = 1 << 20;
  return std::to_string(bound / 10 * 9 / kMiB) + "MiB";
}

void find_of_total(const Setting& setting, const std::optional<Bound>& bound, Findings& findings) {
  if (setting.denominator != "total" || !setting.bytes || !bound) return;
  findings.push_back(
      {"percent-of-ram", "warning",
       fmt::format("{} ({}) is {} of all RAM, {}; {} allows {}", setting.text, setting.source,
                   exact_bytes(*setting.bytes), exact_bytes(setting.denominator_bytes.value_or(0)),
                   bound->who, exact_bytes(bound->bytes)),
       written(setting, below(bound->bytes)) + ", or as a percentage of free, which heeds cgroups"});
}

void find_of_free(const Setting& setting, Findings& findings) {
  if (setting.denominator != "free" || !setting.bytes) return;
  findings.push_back(
      {"percent-of-free", "note",
       fmt::format("{} ({}) is {} of what is free at this moment, {}: each start gets another value, and it "
                   "stays when others take or free memory later",
                   setting.text, setting.source, exact_bytes(*setting.bytes),
                   exact_bytes(setting.denominator_bytes.value_or(0))),
       written(setting, std::to_string(*setting.bytes)) + " for the same value at each start"});
}

void find_of_model(const Setting& setting, Findings& findings) {
  if (setting.denominator != "model" || !setting.bytes) return;
  findings.push_back(
      {"percent-of-model", "warning",
       fmt::format("{} ({}) is of a model's file, here {}; `weir run` knows no model and refuses it",
                   setting.text, setting.source, exact_bytes(setting.denominator_bytes.value_or(0))),
       written(setting, std::to_string(*setting.bytes)) + ", or unset it before weir run"});
}

void find_above_bound(const Setting& setting, Knob knob, const std::optional<Bound>& bound,
                      Findings& findings) {
  if (!setting.bytes || !bound || *setting.bytes <= bound->bytes || setting.denominator == "total") return;
  const char* const effect = knob == Knob::kMemoryLimit ? "the kernel acts before the hard cap refuses"
                                                        : "what is kept for reuse alone could pass it";
  findings.push_back({"limit-above-bound", "warning",
                      fmt::format("{} {} ({}) is above the {} that {} allows: {}",
                                  limits::knob_names(knob).name, exact_bytes(*setting.bytes), setting.source,
                                  exact_bytes(bound->bytes), bound->who, effect),
                      written(setting, below(bound->bytes))});
}

/// A program that reads its own name sets its own limit; then the smaller of both holds.
void find_two_names(const DoctorFacts& facts, Findings& findings) {
  for (const limits::CompatibleName& name : limits::compatible_names()) {
    const auto theirs = facts.variables.find(name.name);
    const auto ours = facts.variables.find(limits::knob_names(name.knob).variable);
    if (theirs == facts.variables.end() || ours == facts.variables.end()) continue;
    if (theirs->second == ours->second) continue;
    findings.push_back(
        {"two-names", "note",
         fmt::format("{} and {} both bound the {}: weir takes {}, a program that reads {} sets its own, and "
                     "under weir run the smaller of both holds",
                     ours->first, theirs->first, limits::knob_names(name.knob).name, ours->first,
                     theirs->first),
         "unset " + theirs->first + ", or weir run --enforce -- COMMAND"});
  }
}

}  // namespace

void find_denominators(const DoctorFacts& facts, Findings& findings) {
  find_two_names(facts, findings);
  if (!facts.limits) return;
  const std::optional<Bound> bound = smallest_bound(facts);
  const std::array<const Setting*, 2> settings = {&facts.limits->cache_limit, &facts.limits->memory_limit};
  for (const Setting* setting : settings) {
    find_of_total(*setting, bound, findings);
    find_of_free(*setting, findings);
    find_of_model(*setting, findings);
    const Knob knob = setting == settings[0] ? Knob::kCacheLimit : Knob::kMemoryLimit;
    find_above_bound(*setting, knob, bound, findings);
  }
}

}  // namespace weir::cli
