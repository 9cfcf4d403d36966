#include "cli/governed_json.h"

#include <nlohmann/json.hpp>

#include "cli/governed_events.h"
#include "cli/governed_words.h"
#include "ledger/layers_json.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

using nlohmann::json;

struct PeakKey {
  const char* name;
  std::int64_t ledger::PageReading::*bytes;
  bool of_pool;
};

constexpr PeakKey kPeaks[] = {
    {"live", &ledger::PageReading::live_peak, false},
    {"retained", &ledger::PageReading::retained_peak, false},
    {"backed", &ledger::PageReading::backed_peak, true},
    {"overdraw", &ledger::PageReading::overdraw_peak, true},
};

bool has_pool(const ledger::PageReading& page) {
  return page.allocator != wire::Allocator::kMlx;
}

/// As under `weir limits`, as far as the process tells: only what is in force.
json limit_json(std::uint64_t bytes, bool counted) {
  const bool unlimited = bytes == wire::kNoLimit;
  const json number = counted && !unlimited ? json(bytes) : json(nullptr);
  return {
      {"mode", !counted ? json(nullptr) : json(unlimited ? "unlimited" : "bytes")},
      {"bytes", number},
      {"effective_bytes", number},
      {"denominator", nullptr},
      {"denominator_bytes", nullptr},
      {"source", "in force"},
      {"text", nullptr},
      {"rules", nullptr},
  };
}

json events_json(const ledger::PageReading& page) {
  json events = json::object();
  for (const EventKey& key : kEvents)
    events[key.name] = is_counted(page) ? json(page.*key.count) : json(nullptr);
  return events;
}

json peaks_json(const ledger::PageReading& page) {
  json peaks = json::object();
  for (const PeakKey& key : kPeaks)
    peaks[key.name] =
        is_counted(page) && (has_pool(page) || !key.of_pool) ? json(page.*key.bytes) : json(nullptr);
  return peaks;
}

json devices_json(const ledger::PageReading& page) {
  json devices = json::array();
  for (const ledger::DeviceReading& device : page.devices)
    devices.push_back({
        {"name", device.name},
        {"total_bytes", device.total},
        {"free_bytes", device.free},
        {"pool_reserved_bytes", device.pool_reserved},
        {"pool_used_bytes", device.pool_used},
    });
  return devices;
}

/// Only classes that somebody asked for.
json size_classes_json(const ledger::PageReading& page) {
  json classes = json::array();
  for (std::size_t c = 0; c < page.size_classes.size(); ++c) {
    const ledger::SizeClassReading& one = page.size_classes[c];
    if (one.allocations == 0 && one.retained == 0) continue;
    classes.push_back({
        {"up_to_bytes", c + 1 < page.size_classes.size() ? json(std::uint64_t{1} << c) : json(nullptr)},
        {"allocations", one.allocations},
        {"hits", one.hits},
        {"retained_bytes",
         page.allocator == wire::Allocator::kMlxPolicy ? json(one.retained) : json(nullptr)},
        {"last_allocation", one.last_allocation},
    });
  }
  return classes;
}

json hit_rate(const ledger::PageReading& page) {
  const auto share = reused_share(page.hits, page.misses);
  return share && is_counted(page) ? json(*share) : json(nullptr);
}

void add_marks(const ledger::PageReading& page, json& out) {
  const char* phase = phase_word(page.phase);
  const bool marked = *phase != '\0' || page.tokens > 0 || page.requests > 0;
  out["phase"] = *phase != '\0' ? json(phase) : json(nullptr);
  out["tokens"] = marked ? json(page.tokens) : json(nullptr);
  out["requests"] = marked ? json(page.requests) : json(nullptr);
}

}  // namespace

json acts_json(const ledger::PageReading& page) {
  json acts = json::array();
  for (const ledger::ActReading& act : page.acts)
    acts.push_back({
        {"time", static_cast<double>(act.time_ns) / 1e9},
        {"kind", act_word(act.kind)},
        {"cause", cause_word(act.cause)},
        {"argument", limit_bytes_json(act.argument)},
        {"released_bytes", act.released},
        {"footprint_before_bytes", act.footprint_before},
        {"footprint_after_bytes", act.footprint_after},
        {"retained_before_bytes", act.retained_before},
        {"retained_after_bytes", act.retained_after},
    });
  return acts;
}

json limit_bytes_json(std::uint64_t bytes) {
  return bytes == wire::kNoLimit ? json(nullptr) : json(bytes);
}

json to_json(const ledger::GovernedProcess& process) {
  const ledger::PageReading& page = process.page;
  const bool counted = is_counted(page);
  json out = {
      {"pid", page.pid},
      {"run", page.run == 0 ? json(nullptr) : json(page.run)},
      {"command", page.command},
      {"command_line", process.command_line.empty() ? json(nullptr) : json(process.command_line)},
      {"backend", backend_word(page.backend)},
      {"allocator", wire::allocator_name(page.allocator)},
      {"library", page.library.empty() ? json(nullptr) : json(page.library)},
      {"state", state_word(page.state)},
      {"torn", page.torn},
      {"limits",
       {{"cache_limit", limit_json(page.cache_limit, counted)},
        {"memory_limit", limit_json(page.memory_limit, counted)}}},
      {"layers", ledger::to_json(process.layers)},
      {"peaks", peaks_json(page)},
      {"hit_rate", hit_rate(page)},
      {"since", process.since_seconds},
      {"started", page.started_ns == 0 ? json(nullptr) : json(static_cast<double>(page.started_ns) / 1e9)},
      {"refusals", counted ? json(page.refusals) : json(nullptr)},
      {"events", events_json(page)},
      {"faults", process.faults},
      {"cgroup", process.cgroup.empty() ? json(nullptr) : json(process.cgroup)},
      {"acts", acts_json(page)},
      {"devices", devices_json(page)},
      {"size_classes", size_classes_json(page)},
  };
  out["backed_bytes"] = counted && has_pool(page) ? json(page.backed) : json(nullptr);
  out["padding_bytes"] = counted && has_pool(page) ? json(page.padding) : json(nullptr);
  add_marks(page, out);
  return out;
}

}  // namespace weir::cli
