#include "cli/top_panel.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "cli/governed_words.h"
#include "report/style.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

constexpr int kGauge = 22;
constexpr int kWidestHistory = 120;
constexpr const char* kIndent = "  ";

std::string who(const ledger::GovernedProcess& process) {
  const ledger::PageReading& page = process.page;
  std::string text = fmt::format("{} · pid {}", page.command, page.pid);
  if (page.run != 0) text += fmt::format(" · run {}", page.run);
  text += fmt::format(" · {} on {}", wire::allocator_name(page.allocator), backend_word(page.backend));
  if (page.backend == wire::Backend::kCuda || page.backend == wire::Backend::kMetal)
    text += " (not run on hardware)";
  if (page.state != wire::PageState::kGoverned) text += fmt::format(" · {}", state_word(page.state));
  if (const char* phase = phase_word(page.phase); *phase != '\0') text += fmt::format(" · {}", phase);
  text += " · for " + duration_word(process.since_seconds);
  return process.cgroup.empty() ? text : text + " · " + process.cgroup;
}

TopLine gauge_line(const char* name, std::int64_t used, const char* used_name, std::uint64_t limit,
                   const TopFrame& frame, Ink ink) {
  TopLine line;
  line.add_cell(name, 14, false, frame);
  if (limit == wire::kNoLimit) return line.add(fmt::format("none; {} {}", used_name, short_bytes(used)));
  const double share =
      limit == 0 ? (used > 0 ? 1 : 0) : static_cast<double>(used) / static_cast<double>(limit);
  add_gauge(line, share, kGauge, frame, share > 1 ? Ink::kWarning : ink);
  return line.add(
      fmt::format(" {:.0f} % of {}; {} {}", 100 * share, limit_word(limit), used_name, short_bytes(used)));
}

/// 0 retained of a limit of 0 is all that may be.
void add_limits(std::vector<TopLine>& lines, const ledger::PageReading& page, const TopFrame& frame) {
  const bool pool = page.allocator != wire::Allocator::kMlx;
  lines.push_back(
      gauge_line("cache limit", page.retained, "retained", page.cache_limit, frame, Ink::kRetained));
  lines.push_back(gauge_line("memory limit", pool ? page.backed : page.live + page.retained,
                             pool ? "backed" : "live + retained", page.memory_limit, frame, Ink::kLive));
}

std::string per_second(const std::optional<double>& rate) {
  return rate ? short_count(*rate) : "?";
}

std::string plural(std::uint64_t count, const char* one, const char* several) {
  return fmt::format("{} {}", with_commas(static_cast<std::int64_t>(count)), count == 1 ? one : several);
}

std::string rates_text(const WatchedProcess& process) {
  const ledger::PageReading& page = process.now.page;
  std::string text = "reused " + hit_word(page);
  if (process.window)
    if (const auto lately = reused_share(process.window->hits, process.window->misses))
      text += " (lately " + share_word(*lately) + ")";
  text += fmt::format(" · {} allocations/s · {} faults/s", per_second(process.allocations_per_second),
                      per_second(process.faults_per_second));
  if (page.tokens > 0)
    text += fmt::format(" · {}, {}/s", plural(page.tokens, "token", "tokens"),
                        per_second(process.tokens_per_second));
  if (page.requests > 0) text += " · " + plural(page.requests, "request", "requests");
  return text;
}

/// What is 0 as a rule.
std::string troubles_text(const ledger::PageReading& page) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* one, const char* several) {
    if (count > 0) text += (text.empty() ? "" : " · ") + plural(count, one, several);
  };
  add(page.refusals, "refusal", "refusals");
  add(page.overdraws, "overdraw", "overdraws");
  add(page.host_clears, "clear by the program", "clears by the program");
  add(page.host_limits, "limit by the program", "limits by the program");
  add(page.troubles, "trouble", "troubles");
  if (page.overdraw > 0) text += " · overdrawn by " + short_bytes(page.overdraw);
  if (page.torn)
    text += std::string(text.empty() ? "" : " · ") + "read while it stood still inside an update";
  return text;
}

std::string act_text(const ledger::ActReading& act, std::uint64_t now_ns) {
  const double ago = now_ns > act.time_ns ? static_cast<double>(now_ns - act.time_ns) / 1e9 : 0;
  std::string what = act_word(act.kind);
  if (act.kind == wire::ActKind::kSetCacheLimit || act.kind == wire::ActKind::kSetMemoryLimit ||
      act.kind == wire::ActKind::kAdaptMemoryLimit)
    what += " " + limit_word(act.argument);
  return fmt::format("last act: {} ({}) {} ago: gave back {}; footprint {} → {}", what, cause_word(act.cause),
                     duration_word(ago), short_bytes(act.released), short_bytes(act.footprint_before),
                     short_bytes(act.footprint_after));
}

std::string history_text(const WatchedProcess& process, const TopFrame& frame) {
  const std::vector<std::int64_t>& values = process.footprints;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const std::string words = fmt::format(" {} to {} in {}", short_bytes(*least), short_bytes(*most),
                                        duration_word(process.window ? process.window->seconds : 0));
  const int width = std::min(
      {frame.width - 10 - report::display_width(words), kWidestHistory, static_cast<int>(values.size())});
  return "footprint " + sparkline(values, width, frame.unicode) + words;
}

void add_devices(std::vector<TopLine>& lines, const ledger::PageReading& page, const TopFrame& frame) {
  for (const ledger::DeviceReading& device : page.devices)
    add_wrapped(lines,
                fmt::format("{}: {}, {} free · pool holds {}, uses {} · not run on hardware", device.name,
                            short_bytes(device.total), short_bytes(device.free),
                            short_bytes(device.pool_reserved), short_bytes(device.pool_used)),
                frame);
}

std::string beside_text(const ledger::Layers& layers, const ledger::PageReading& page) {
  std::string text = fmt::format("beside it: file {} · resident {} (htop: RES)", bytes_word(layers.file),
                                 bytes_word(layers.resident));
  if (layers.swap.value_or(0) > 0) text += " · swap " + bytes_word(layers.swap);
  if (page.sample) text += fmt::format(" · sampled {} ago", duration_word(layers.age_seconds));
  return text;
}

}  // namespace

void add_wrapped(std::vector<TopLine>& lines, const std::string& text, const TopFrame& frame, Ink ink) {
  std::string rest = report::wrapped(text, frame.width, kIndent);
  for (std::size_t end = 0; end != std::string::npos;) {
    end = rest.find('\n');
    lines.push_back(TopLine(rest.substr(0, end), ink));
    rest.erase(0, end == std::string::npos ? rest.size() : end + 1);
  }
}

std::vector<TopLine> details_lines(const WatchedProcess& process, const TopFrame& frame) {
  const ledger::PageReading& page = process.now.page;
  const ledger::Layers& layers = process.now.layers;
  std::vector<TopLine> lines;
  lines.push_back(TopLine(who(process.now), Ink::kStrong));
  if (!process.now.command_line.empty()) lines.push_back(TopLine(process.now.command_line, Ink::kFaint));
  TopLine bar;
  add_layers_bar(bar, layers, layers.footprint.value_or(0), frame.width, frame);
  lines.push_back(bar);
  add_wrapped(lines, sum_sentence(layers), frame);
  add_wrapped(lines, beside_text(layers, page), frame);
  if (is_counted(page)) add_limits(lines, page, frame);
  add_wrapped(lines, rates_text(process), frame);
  if (const std::string troubles = troubles_text(page); !troubles.empty())
    add_wrapped(lines, troubles, frame, Ink::kWarning);
  lines.push_back(TopLine(history_text(process, frame)));
  if (!page.acts.empty()) {
    const std::uint64_t now_ns =
        page.started_ns + static_cast<std::uint64_t>(process.now.since_seconds * 1e9);
    add_wrapped(lines, act_text(page.acts.back(), now_ns), frame);
  }
  add_devices(lines, page, frame);
  return lines;
}

std::vector<TopLine> help_lines(const TopFrame& frame) {
  std::vector<TopLine> lines = {TopLine("help", Ink::kStrong)};
  TopLine legend("bar       ");
  add_bar_legend(legend, frame);
  const char* const keys[] = {
      "up, down  select a process; in a panel, scroll it (also Page Up, Home, …)",
      "w         why the selected process's freed buffers are not reused",
      "s         sort by footprint, retained, alloc/s, faults/s, reused, run",
      "q         quit; Escape closes a panel",
      "",
  };
  const char* const words[] = {
      "footprint what the process alone makes the kernel hold: anonymous, shared, swap",
      "resident  what htop shows as RES: footprint + file - swap",
      "live      buffers that arrays hold; retained: freed and kept for reuse",
      "reused    share of the allocations that needed no fresh memory",
      "history   footprint over the last looks, between its smallest and largest",
      "?         not known: not counted, or it takes a sample (weir ctl PID sample)",
  };
  for (const char* key : keys)
    lines.push_back(TopLine(key));
  lines.push_back(legend);
  for (const char* word : words)
    lines.push_back(TopLine(word));
  lines.push_back(TopLine("Looking never stops or changes a process: top reads pages and /proc."));
  return lines;
}

}  // namespace weir::cli
