#include <nlohmann/json.hpp>

#include "cli/governed_events.h"
#include "cli/governed_json.h"
#include "cli/governed_words.h"
#include "cli/run_summary.h"
#include "cli/trim_at.h"
#include "ledger/layers_json.h"
#include "limits/setting_json.h"

namespace weir::cli {
namespace {

using nlohmann::json;

json events_of(const ledger::PageReading& page) {
  json events = json::object();
  for (const EventKey& key : kEvents)
    events[key.name] = page.*key.count;
  return events;
}

/// Whether every governed process had a page.
bool has_all_pages(const RunSummary& run) {
  return run.has_pages && unseen_of(run).empty();
}

/// Sums over all processes; nothing is known where a page is missing.
json events_of(const RunSummary& run) {
  const bool known = has_all_pages(run);
  json events = json::object();
  for (const EventKey& key : kEvents) {
    std::uint64_t sum = 0;
    for (const GovernedProgram& program : run.programs)
      sum += program.page.*key.count;
    events[key.name] = known ? json(sum) : json(nullptr);
  }
  return events;
}

const char* origin_name(ExitOrigin origin) {
  return origin == ExitOrigin::kChild ? "child" : origin == ExitOrigin::kSignal ? "signal" : "weir";
}

json footprint_json(const std::optional<ledger::PeakFootprint>& peak) {
  if (!peak) return nullptr;
  return {{"high_bytes", peak->high_bytes}, {"low_bytes", peak->low_bytes}, {"source", peak->source}};
}

json program_json(const RunSummary& run, const GovernedProgram& program) {
  const ledger::PageReading& page = program.page;
  const bool pool = page.allocator != wire::Allocator::kMlx;
  std::optional<ledger::ProcessPeak> peak;
  for (const ledger::ProcessPeak& one : run.peaks)
    if (one.pid == page.pid && one.start_ticks == page.start_ticks) peak = one;
  return {
      {"pid", page.pid},
      {"command", page.command},
      {"library", page.library},
      {"allocator", wire::allocator_name(page.allocator)},
      {"state", program.was_off ? "off" : state_word(page.state)},
      {"alive", page.alive},
      {"torn", page.torn},
      {"cache_limit_bytes", limit_bytes_json(page.cache_limit)},
      {"memory_limit_bytes", limit_bytes_json(page.memory_limit)},
      {"live_bytes", page.live},
      {"retained_bytes", page.retained},
      {"backed_bytes", pool ? json(page.backed) : json(nullptr)},
      {"overdraw_bytes", pool ? json(page.overdraw) : json(nullptr)},
      {"live_peak_bytes", page.live_peak},
      {"retained_peak_bytes", page.retained_peak},
      {"backed_peak_bytes", pool ? json(page.backed_peak) : json(nullptr)},
      {"overdraw_peak_bytes", pool ? json(page.overdraw_peak) : json(nullptr)},
      {"footprint_peak", peak ? footprint_json(peak->footprint) : json(nullptr)},
      {"layers_peak", peak ? ledger::to_json(peak->at_peak) : json(nullptr)},
      {"refusals", page.refusals},
      {"events", events_of(page)},
      {"acts", acts_json(page)},
  };
}

json settings_json(const wire::AgentSettings& settings) {
  return {
      {"allocator", wire::allocator_name(settings.allocator)},
      {"host_clear", settings.host_clear == wire::HostClear::kHonour ? "honour" : "age"},
      {"enforce", settings.enforce},
      {"children", settings.children},
      {"huge_pages", settings.huge_pages},
      {"trim_at", boundaries_text({settings.trim_at, settings.idle_ms})},
  };
}

}  // namespace

json to_json(const RunSummary& run) {
  const Verdict verdict = verdict_of(run);
  json out = settings_json(run.settings);
  out["governed"] = verdict.governed ? json(*verdict.governed) : json(nullptr);
  out["reason"] = verdict.reason.empty() ? json(nullptr) : json(verdict.reason);
  out["command"] = run.command;
  out["exit_origin"] = origin_name(run.origin);
  out["exit_code"] = run.exit_code;
  out["child_exit_code"] = run.child == 0 ? json(nullptr) : json(run.child_code);
  out["seconds"] = run.seconds;
  out["limits"] = limits::to_json(run.limits);
  out["layers_peak"] = run.layers_peak ? ledger::to_json(*run.layers_peak) : json(nullptr);
  out["footprint_peak"] = footprint_json(run.footprint_peak);
  std::uint64_t refusals = 0;
  out["processes"] = json::array();
  for (const GovernedProgram& program : run.programs) {
    refusals += program.page.refusals;
    out["processes"].push_back(program_json(run, program));
  }
  out["refusals"] = has_all_pages(run) ? json(refusals) : json(nullptr);
  out["events"] = events_of(run);
  out["ungoverned"] = json::array();
  for (const auto& [pid, command] : ungoverned_of(run))
    out["ungoverned"].push_back({{"pid", pid}, {"command", command}});
  return out;
}

}  // namespace weir::cli
