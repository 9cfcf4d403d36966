#include "cli/ps.h"

#include <unistd.h>
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "cli/governed_json.h"
#include "cli/governed_words.h"
#include "cli/top_line.h"
#include "ledger/governed_page.h"
#include "ledger/governed_peak.h"
#include "report/text_table.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

constexpr int kLongestCommand = 16;

report::TextTable head(const report::Style& style) {
  report::TextTable table(style);
  table.add_column("pid", report::Align::kRight);
  table.add_column("command", report::Align::kLeft);
  table.add_column("allocator", report::Align::kLeft, 4);
  table.add_column("backend", report::Align::kLeft, 9);
  table.add_column("phase", report::Align::kLeft, 7);
  table.add_column("footprint", report::Align::kRight);
  table.add_column("resident", report::Align::kRight, 3);
  table.add_column("live", report::Align::kRight);
  table.add_column("retained", report::Align::kRight);
  table.add_column("cache limit", report::Align::kRight, 2);
  table.add_column("memory limit", report::Align::kRight, 5);
  table.add_column("reused", report::Align::kRight, 1);
  table.add_column("refusals", report::Align::kRight, 6);
  table.add_column("since", report::Align::kRight, 8);
  table.add_column("cgroup", report::Align::kLeft, 10);
  return table;
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

/// What is not simply governed says so here.
std::string phase_cell(const ledger::PageReading& page) {
  return or_dash(page.state == wire::PageState::kGoverned ? phase_word(page.phase) : state_word(page.state));
}

void add_process(report::TextTable& table, const ledger::GovernedProcess& process, bool unicode) {
  const ledger::PageReading& page = process.page;
  const bool counted = is_counted(page);
  table.add_row({
      std::to_string(page.pid),
      clipped(page.command, kLongestCommand, unicode),
      wire::allocator_name(page.allocator),
      backend_word(page.backend),
      phase_cell(page),
      bytes_word(process.layers.footprint),
      bytes_word(process.layers.resident),
      bytes_word(process.layers.live),
      bytes_word(process.layers.retained),
      counted ? limit_word(page.cache_limit) : "?",
      counted ? limit_word(page.memory_limit) : "?",
      hit_word(page),
      counted ? with_commas(static_cast<std::int64_t>(page.refusals)) : "?",
      duration_word(process.since_seconds),
      or_dash(process.cgroup),
  });
}

using Iterator = std::vector<ledger::GovernedProcess>::const_iterator;

void add_sum(report::TextTable& table, Iterator first, Iterator last) {
  ledger::Layers sum = first->layers;
  for (auto process = first + 1; process != last; ++process)
    sum = ledger::add_layers(sum, process->layers);
  table.add_row({"", fmt::format("sum of run {}", first->page.run), "", "", "", bytes_word(sum.footprint),
                 bytes_word(sum.resident), bytes_word(sum.live), bytes_word(sum.retained), "", "", "", "", "",
                 ""});
}

/// The end of the run that starts here; processes of no run stand alone.
Iterator end_of_run(Iterator first, Iterator end) {
  if (first->page.run == 0) return first + 1;
  return std::find_if(first, end, [&](const auto& other) { return other.page.run != first->page.run; });
}

/// cuda and metal are written and tested against a fake, and never ran on what they are for.
bool has_unproven_backend(const std::vector<ledger::GovernedProcess>& processes) {
  return std::any_of(processes.begin(), processes.end(), [](const auto& process) {
    return process.page.backend == wire::Backend::kCuda || process.page.backend == wire::Backend::kMetal;
  });
}

std::string json_text(const std::vector<ledger::GovernedProcess>& processes) {
  nlohmann::json list = nlohmann::json::array();
  for (const ledger::GovernedProcess& process : processes)
    list.push_back(to_json(process));
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Result<int> run_ps(bool json) {
  const auto folder = ledger::runtime_folder();
  if (!folder) return tl::unexpected(folder.error());
  const auto processes = ledger::governed_processes(*folder);
  if (json) {
    print_result(json_text(processes));
    return 0;
  }
  const auto machine = ledger::machine_memory();
  print_result(
      ps_table(processes, machine ? std::optional(*machine) : std::nullopt, report::style_of(STDOUT_FILENO)));
  return 0;
}

}  // namespace

std::string ps_table(const std::vector<ledger::GovernedProcess>& processes,
                     const std::optional<ledger::MachineMemory>& machine, const report::Style& style) {
  std::string out;
  if (machine) out = report::spelled(machine_sentence(*machine), style) + "\n\n";
  if (processes.empty()) return out + "no governed process lives; start one with: weir run -- COMMAND\n";
  report::TextTable table = head(style);
  for (auto first = processes.begin(); first != processes.end();) {
    const auto last = end_of_run(first, processes.end());
    for (auto process = first; process != last; ++process)
      add_process(table, *process, style.unicode);
    if (last - first > 1) add_sum(table, first, last);
    first = last;
  }
  std::vector<std::string> left_out;
  out += table.text(&left_out);
  if (!left_out.empty())
    out += report::wrapped(fmt::format("no room for: {}", fmt::join(left_out, ", ")), style.width) + "\n";
  if (has_unproven_backend(processes)) out += "cuda and metal: not run on hardware\n";
  return out;
}

Subcommand ps_subcommand() {
  const auto json = std::make_shared<bool>(false);
  Subcommand subcommand;
  subcommand.name = "ps";
  subcommand.summary = "What every governed process holds; looking never stops or changes one";
  subcommand.example = "  weir ps\n  weir ps --json";
  subcommand.flags = {{"--json", "", "Print JSON", json.get()}};
  subcommand.run = [json](const Invocation&) { return run_ps(*json); };
  return subcommand;
}

}  // namespace weir::cli
