#include "cli/run_summary.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "cli/governed_words.h"

namespace weir::cli {
namespace {

constexpr std::size_t kMostPrograms = 20;
constexpr std::size_t kMostUngoverned = 3;
constexpr std::size_t kMostUnseen = 3;

bool is_governed(const GovernedProgram& program) {
  return !program.was_off && program.page.state != wire::PageState::kStarting;
}

/// A page names its process as that process does.
bool has_page(const RunSummary& run, pid_t pid, const Sighting& sighting) {
  const pid_t own = sighting.own_pid != 0 ? sighting.own_pid : pid;
  return std::any_of(run.programs.begin(), run.programs.end(), [&](const GovernedProgram& program) {
    return program.page.pid == pid || program.page.pid == own;
  });
}

std::string limit_text(std::uint64_t bytes) {
  return bytes == wire::kNoLimit ? "none" : exact_bytes(static_cast<std::int64_t>(bytes));
}

const ledger::ProcessPeak* peak_of(const RunSummary& run, const ledger::PageReading& page) {
  const auto found = std::find_if(run.peaks.begin(), run.peaks.end(), [&](const ledger::ProcessPeak& peak) {
    return peak.pid == page.pid && peak.start_ticks == page.start_ticks;
  });
  return found == run.peaks.end() ? nullptr : &*found;
}

/// The biggest first.
std::vector<const GovernedProgram*> ordered(const RunSummary& run) {
  std::vector<const GovernedProgram*> programs;
  for (const GovernedProgram& program : run.programs)
    programs.push_back(&program);
  std::stable_sort(programs.begin(), programs.end(), [](const auto* left, const auto* right) {
    return left->page.live_peak > right->page.live_peak;
  });
  return programs;
}

std::string counts_line(const ledger::PageReading& page) {
  std::string line = with_commas(static_cast<std::int64_t>(page.allocations)) + " allocations";
  if (const auto share = reused_share(page.hits, page.misses)) line += ", " + share_word(*share) + " reused";
  if (page.returned > 0) line += " · returned " + short_bytes(static_cast<std::int64_t>(page.returned));
  if (page.moved > 0) line += " · moved " + short_bytes(static_cast<std::int64_t>(page.moved));
  return line;
}

/// What should not be: refusals, overdraws, troubles, and what the program itself asked for; "" for nothing.
std::string events_line(const ledger::PageReading& page) {
  std::string line;
  const auto add = [&](std::uint64_t count, const char* one, const char* many) {
    if (count == 0) return;
    line += (line.empty() ? "" : " · ") + with_commas(static_cast<std::int64_t>(count)) + " " +
            (count == 1 ? one : many);
  };
  add(page.refusals, "refusal", "refusals");
  add(page.overdraws, "overdraw", "overdraws");
  if (page.overdraws > 0) line += " (at most " + short_bytes(page.overdraw_peak) + ")";
  add(page.host_clears, "clear by the program", "clears by the program");
  add(page.host_limits, "limit set by the program", "limits set by the program");
  add(page.troubles, "trouble", "troubles");
  return line;
}

bool gives_back(const ledger::ActReading& act) {
  return act.kind == wire::ActKind::kTrim || act.kind == wire::ActKind::kTrimAged ||
         act.kind == wire::ActKind::kReturn;
}

/// What weir gave back by itself or was told to; "" for nothing.
std::string acts_line(const ledger::PageReading& page) {
  std::int64_t released = 0;
  std::vector<std::pair<std::string, int>> causes;
  for (const ledger::ActReading& act : page.acts) {
    if (!gives_back(act)) continue;
    released += act.released;
    const std::string cause = cause_word(act.cause);
    const auto known =
        std::find_if(causes.begin(), causes.end(), [&](const auto& one) { return one.first == cause; });
    if (known == causes.end()) {
      causes.emplace_back(cause, 1);
    } else {
      ++known->second;
    }
  }
  if (causes.empty()) return "";
  std::string line = "weir gave back " + short_bytes(released) + " (";
  for (const auto& [cause, times] : causes)
    line += fmt::format("{}{} {}", line.back() == '(' ? "" : ", ", cause, times);
  line += ")";
  if (page.acts_done > page.acts.size())
    line += fmt::format(", the latest {} acts of {}", page.acts.size(), page.acts_done);
  return line;
}

void add_program(const RunSummary& run, const GovernedProgram& program, std::vector<std::string>& lines) {
  const ledger::PageReading& page = program.page;
  std::string head = fmt::format("{} (pid {}): ", page.command, page.pid);
  head += is_governed(program) ? fmt::format("governed by {}", wire::allocator_name(page.allocator))
                               : "not governed: weir switched itself off there";
  if (page.alive) head += ", and lives on";
  lines.push_back(head);
  if (const auto* peak = peak_of(run, page))
    lines.push_back(fmt::format("  footprint peak {} to {}", short_bytes(peak->footprint.low_bytes),
                                short_bytes(peak->footprint.high_bytes)));
  std::string peaks = fmt::format("  peaks: live {} · retained {}", short_bytes(page.live_peak),
                                  short_bytes(page.retained_peak));
  if (page.allocator != wire::Allocator::kMlx) peaks += " · backed " + short_bytes(page.backed_peak);
  lines.push_back(peaks);
  lines.push_back("  limits: cache " + limit_text(page.cache_limit) + " · memory " +
                  limit_text(page.memory_limit));
  lines.push_back("  " + counts_line(page));
  if (const std::string events = events_line(page); !events.empty()) lines.push_back("  " + events);
  if (const std::string acts = acts_line(page); !acts.empty()) lines.push_back("  " + acts);
}

/// MLX was mapped, and the agent is not there.
bool is_ungoverned(const RunSummary& run, pid_t pid, const Sighting& sighting) {
  if (has_page(run, pid, sighting)) return false;
  if (!run.settings.children && pid != run.child) return false;
  return !sighting.libraries.agent && !sighting.libraries.core;
}

std::string unseen_line(const std::pair<pid_t, std::string>& process) {
  return fmt::format("{} (pid {}) ran MLX governed, but its counters could not be seen", process.second,
                     process.first);
}

std::string ungoverned_reason(const RunSummary& run) {
  for (const auto& [pid, sighting] : run.sightings) {
    if (!is_ungoverned(run, pid, sighting)) continue;
    return fmt::format(
        "{} (pid {}) loaded MLX without weir's agent: a wrapper took LD_PRELOAD and WEIR_AGENT out of its "
        "environment; start weir run behind the wrapper",
        sighting.command, pid);
  }
  return "";
}

std::string unused_reason(const RunSummary& run) {
  if (run.sightings.empty()) return "no MLX was loaded";
  const bool child = run.sightings.count(run.child) > 0;
  if (!run.settings.children && !child)
    return "MLX was loaded only by what the program started, which --children no leaves alone";
  return "MLX was loaded and never used, or weir stayed out of it and said why on stderr";
}

}  // namespace

std::vector<std::pair<pid_t, std::string>> ungoverned_of(const RunSummary& run) {
  std::vector<std::pair<pid_t, std::string>> found;
  for (const auto& [pid, sighting] : run.sightings)
    if (is_ungoverned(run, pid, sighting)) found.emplace_back(pid, sighting.command);
  for (const GovernedProgram& program : run.programs)
    if (!is_governed(program)) found.emplace_back(program.page.pid, program.page.command);
  return found;
}

std::vector<std::pair<pid_t, std::string>> unseen_of(const RunSummary& run) {
  std::vector<std::pair<pid_t, std::string>> found;
  for (const auto& [pid, sighting] : run.sightings)
    if (sighting.libraries.core && !has_page(run, pid, sighting)) found.emplace_back(pid, sighting.command);
  return found;
}

Verdict verdict_of(const RunSummary& run) {
  if (std::any_of(run.programs.begin(), run.programs.end(), is_governed)) return {true, "", false};
  if (!run.obstacle.empty() && run.child == 0) return {false, run.obstacle, true};
  if (const auto unseen = unseen_of(run); !unseen.empty())
    return {std::nullopt, unseen_line(unseen.front()), false};
  if (!run.programs.empty())
    return {
        false,
        "weir switched itself off in " + run.programs.front().page.command + "; its line on stderr says why",
        true};
  if (!run.has_pages && run.obstacle.empty())
    return {std::nullopt, "not known: governed processes have no folder for their pages", false};
  if (!run.obstacle.empty()) return {false, run.obstacle, false};
  if (std::string reason = ungoverned_reason(run); !reason.empty()) return {false, std::move(reason), true};
  return {false, unused_reason(run), false};
}

std::vector<std::string> summary_lines(const RunSummary& run) {
  std::vector<std::string> lines;
  const Verdict verdict = verdict_of(run);
  if (verdict.governed != true)
    lines.push_back((verdict.governed ? "nothing was governed: " : "") + verdict.reason);
  const auto unseen = unseen_of(run);
  for (std::size_t i = verdict.governed == true ? 0 : 1; i < unseen.size() && i < kMostUnseen; ++i)
    lines.push_back(unseen_line(unseen[i]));
  const auto programs = ordered(run);
  for (std::size_t i = 0; i < programs.size() && i < kMostPrograms; ++i)
    add_program(run, *programs[i], lines);
  if (programs.size() > kMostPrograms)
    lines.push_back(fmt::format("… and {} more (--summary FILE has all)", programs.size() - kMostPrograms));
  if (run.programs.size() > 1 && run.footprint_peak)
    lines.push_back(fmt::format("together: footprint peak {} to {}",
                                short_bytes(run.footprint_peak->low_bytes),
                                short_bytes(run.footprint_peak->high_bytes)));
  if (verdict.governed == true) {
    const auto others = ungoverned_of(run);
    for (std::size_t i = 0; i < others.size() && i < kMostUngoverned; ++i)
      lines.push_back(
          fmt::format("warning: {} (pid {}) ran MLX ungoverned", others[i].second, others[i].first));
  }
  if (run.origin == ExitOrigin::kSignal)
    lines.push_back(fmt::format("{} was ended by signal {}: exit code {}", run.command, run.child_code - 128,
                                run.exit_code));
  if (run.origin == ExitOrigin::kWeir && run.child != 0)
    lines.push_back(fmt::format("exit code {} is weir's own; {} ended with {}", run.exit_code, run.command,
                                run.child_code));
  return lines;
}

}  // namespace weir::cli
