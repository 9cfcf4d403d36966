#include "cli/top_fixture.h"

#include "base/golden_file.h"

namespace weir::cli {
namespace {

constexpr std::int64_t kMegabyte = 1'000'000;
constexpr std::uint64_t kStarted = 1'800'000'000'000'000'000;
constexpr double kSince = 754;

void close_sum(ledger::GovernedProcess& process) {
  ledger::Layers& layers = process.layers;
  layers.unexplained = *layers.footprint - ledger::explained_bytes(layers);
  layers.resident = *layers.footprint + *layers.file - layers.swap.value_or(0);
}

ledger::GovernedProcess server() {
  ledger::GovernedProcess process = made_up_process(26219, "python3.11", 1'150 * kMegabyte, 812 * kMegabyte);
  ledger::PageReading& page = process.page;
  page.run = 26217;
  page.allocator = wire::Allocator::kMlxPolicy;
  page.cache_limit = 900 * kMegabyte;
  page.memory_limit = 4'000 * kMegabyte;
  page.allocations = 1'234'567;
  page.hits = 1'190'000;
  page.misses = 44'567;
  page.size_classes[12] = {900'000, 899'990, 40'960, 1'234'560};
  page.size_classes[20] = {300'000, 280'000, 112 * kMegabyte, 1'234'000};
  page.size_classes[26] = {34'567, 10'010, 700 * kMegabyte, 1'100'000};
  page.acts = {{kStarted + 700'000'000'000, wire::ActKind::kTrimAged, wire::ActCause::kIdle, 5'000,
                312 * kMegabyte, 2'400 * kMegabyte, 2'088 * kMegabyte, 900 * kMegabyte, 588 * kMegabyte}};
  page.sample = ledger::SampleReading{kStarted + 740'000'000'000, 24 * kMegabyte, 61 * kMegabyte,
                                      9 * kMegabyte, 3 * kMegabyte};
  process.layers.heap_idle = 24 * kMegabyte;
  process.layers.identified = 61 * kMegabyte;
  process.layers.untouched = 9 * kMegabyte;
  process.layers.age_seconds = 14;
  process.layers.footprint = 2'041 * kMegabyte;
  process.command_line = "/opt/llm/bin/python3.11 -m mlx_lm.server --model smollm2 --port 8080";
  process.cgroup = "systemd llm.service";
  close_sum(process);
  return process;
}

ledger::GovernedProcess runner() {
  ledger::GovernedProcess process = made_up_process(31007, "weir", 115 * kMegabyte, 27 * kMegabyte);
  process.page.run = 31005;
  process.page.phase = wire::Phase::kDecode;
  process.page.tokens = 1'208;
  process.page.requests = 3;
  process.page.refusals = 1;
  process.page.memory_limit = 128 * kMegabyte;
  process.page.padding = 2 * kMegabyte;
  process.page.backed = 144 * kMegabyte;
  process.page.size_classes[11] = {60'000, 59'000, 0, 89'990};
  process.page.size_classes[23] = {30'000, 29'000, 0, 70'000};
  process.command_line = "weir generate smollm2 -p Hello";
  close_sum(process);
  return process;
}

}  // namespace

ledger::GovernedProcess made_up_process(pid_t pid, const std::string& command, std::int64_t live_bytes,
                                        std::int64_t retained_bytes) {
  ledger::GovernedProcess process;
  ledger::PageReading& page = process.page;
  page.pid = pid;
  page.start_ticks = static_cast<std::uint64_t>(pid) * 10;
  page.started_ns = kStarted;
  page.state = wire::PageState::kGoverned;
  page.allocator = wire::Allocator::kWeir;
  page.command = command;
  page.library = "/opt/mlx/lib/libmlx.so";
  page.alive = true;
  page.live = page.live_peak = live_bytes;
  page.retained = page.retained_peak = retained_bytes;
  page.backed = page.backed_peak = live_bytes + retained_bytes;
  page.allocations = 90'000;
  page.hits = 88'000;
  page.misses = 2'000;
  process.layers.live = live_bytes;
  process.layers.retained = retained_bytes;
  process.layers.identified = 0;
  process.layers.footprint = live_bytes + retained_bytes + 20 * kMegabyte;
  process.layers.file = 61 * kMegabyte;
  process.layers.swap = 0;
  process.faults = 40'000;
  process.since_seconds = kSince;
  close_sum(process);
  return process;
}

std::vector<ledger::GovernedProcess> made_up_processes() {
  ledger::GovernedProcess worker = made_up_process(26244, "python3.11", 96'000'000, 4'000'000);
  worker.page.run = 26217;
  worker.page.allocator = wire::Allocator::kMlx;
  worker.page.cache_limit = 33'554'432;
  ledger::GovernedProcess off = made_up_process(41999, "an old program with a long name", 0, 0);
  off.page.state = wire::PageState::kOff;
  off.layers.live = off.layers.retained = std::nullopt;
  close_sum(off);
  return {server(), worker, runner(), off};
}

std::vector<WatchedProcess> watched_processes(int looks) {
  TopHistory history;
  for (int look = looks - 1; look >= 0; --look) {
    std::vector<ledger::GovernedProcess> processes = made_up_processes();
    const auto ago = static_cast<std::uint64_t>(look);
    processes[0].layers.footprint = 2'041 * kMegabyte - 40 * kMegabyte * (look % 12);
    processes[0].page.allocations -= 12'000 * ago;
    processes[0].page.hits -= 11'900 * ago;
    processes[0].page.misses -= 100 * ago;
    processes[0].faults -= 130 * ago;
    processes[2].page.allocations -= 900 * ago;
    processes[2].page.tokens -= 29 * ago;
    history.add(processes, std::chrono::seconds(looks - look));
  }
  return history.processes();
}

ledger::MachineMemory made_up_machine() {
  ledger::MachineMemory machine;
  machine.total_bytes = 25'200'000'000;
  machine.available_bytes = 19'300'000'000;
  machine.cgroup_limit_bytes = 8'000'000'000;
  machine.cgroup_usage_bytes = 3'100'000'000;
  machine.cgroup_headroom_bytes = 5'200'000'000;
  return machine;
}

std::string text_of(const std::vector<TopLine>& lines) {
  std::string out;
  for (const TopLine& line : lines)
    out += (line.is_selected ? ">" : " ") + line.text() + "\n";
  return out;
}

void expect_screen(const std::string& name, const std::string& text) {
  expect_golden_file("src/cli/golden/" + name, text);
}

}  // namespace weir::cli
