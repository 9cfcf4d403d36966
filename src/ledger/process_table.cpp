#include "ledger/process_table.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>

#include "base/owned_fd.h"
#include "ledger/cgroup.h"
#include "ledger/governed_layers.h"
#include "ledger/governed_page.h"
#include "ledger/outside_text.h"
#include "ledger/proc_status.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

constexpr std::size_t kMostCommandLineBytes = 4'096;
constexpr std::size_t kMostStatBytes = 1'024;
constexpr int kMinorFaultsField = 10;
constexpr int kMajorFaultsField = 12;
constexpr int kFirstFieldAfterName = 3;

/// At most `room` bytes from the start of a file of /proc; "" where it cannot be read.
std::string read_start(const std::string& path, std::size_t room) {
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return "";
  std::string text(room, '\0');
  std::size_t size = 0;
  while (size < room) {
    const ssize_t got = ::read(file.get(), text.data() + size, room - size);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size += static_cast<std::size_t>(got);
  }
  text.resize(size);
  return text;
}

std::string proc_file(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

std::uint64_t wall_clock_ns() {
  const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(now.count());
}

double seconds_between(std::uint64_t from_ns, std::uint64_t to_ns) {
  return to_ns > from_ns ? static_cast<double>(to_ns - from_ns) / 1e9 : 0;
}

/// Of the programs that one process was, only the last one lives.
void keep_last_programs(std::vector<PageReading>& pages) {
  const auto is_replaced = [&](const PageReading& page) {
    return std::any_of(pages.begin(), pages.end(), [&](const PageReading& other) {
      return other.pid == page.pid && other.started_ns > page.started_ns;
    });
  };
  std::vector<PageReading> kept;
  for (const PageReading& page : pages)
    if (page.alive && !is_replaced(page)) kept.push_back(page);
  pages = std::move(kept);
}

/// nullopt: it has ended meanwhile, or another process has its number.
std::optional<GovernedProcess> read_process(const PageReading& page) {
  const Result<ProcStatus> status = read_process_status(page.pid);
  if (!status) return std::nullopt;
  // Read after the sizes: the same start means that they were this process's.
  const std::string stat = read_start(proc_file(page.pid, "stat"), kMostStatBytes);
  wire::ProcessStat identity;
  if (!wire::parse_process_stat(stat.data(), stat.size(), identity) || identity.is_dead())
    return std::nullopt;
  if (page.start_ticks != 0 && identity.start_ticks != page.start_ticks) return std::nullopt;
  const std::uint64_t now = wall_clock_ns();
  GovernedProcess process;
  process.page = page;
  process.layers = with_latest_sample(compute_governed_layers(page, *status), page, now);
  process.faults = parse_faults(stat).value_or(0);
  process.since_seconds = seconds_between(page.started_ns, now);
  return process;
}

}  // namespace

std::optional<std::uint64_t> parse_faults(std::string_view stat) {
  // The name may hold spaces and brackets: fields count from the last bracket.
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end + 2);
  std::uint64_t sum = 0;
  for (int field = kFirstFieldAfterName; field <= kMajorFaultsField; ++field) {
    const std::string_view word = stat.substr(0, stat.find_first_of(" \n"));
    if (field == kMinorFaultsField || field == kMajorFaultsField) {
      std::uint64_t count = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
      if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
      sum += count;
    }
    stat.remove_prefix(std::min(stat.size(), word.size() + 1));
  }
  return sum;
}

std::string parse_command_line(std::string_view text) {
  std::string joined(text.substr(0, kMostCommandLineBytes));
  std::replace_if(
      joined.begin(), joined.end(), [](char c) { return c == '\0' || c == '\n' || c == '\t'; }, ' ');
  joined.erase(joined.find_last_not_of(' ') + 1);
  return fit_for_output(joined);
}

Layers with_latest_sample(Layers layers, const PageReading& page, std::uint64_t now_ns) {
  if (!page.sample) return layers;
  layers.heap_idle = page.sample->heap_idle;
  layers.untouched = page.sample->untouched;
  layers.age_seconds = seconds_between(page.sample->ns, now_ns);
  if (page.sample->identified) {
    layers.identified = page.sample->identified;
    layers.identified_parts = {{"as counted at the latest sample", *page.sample->identified}};
  }
  if (layers.footprint) layers.unexplained = *layers.footprint - explained_bytes(layers);
  return layers;
}

const ProcessTable::Names& ProcessTable::names_of(const PageReading& page, std::map<Who, Names>& known) {
  const Who who{page.pid, page.start_ticks, page.started_ns};
  const auto before = names_.find(who);
  if (before != names_.end()) return known.emplace(who, std::move(before->second)).first->second;
  Names names;
  names.command_line = parse_command_line(read_start(proc_file(page.pid, "cmdline"), kMostCommandLineBytes));
  names.cgroup = process_cgroup(page.pid).label();
  return known.emplace(who, std::move(names)).first->second;
}

std::vector<GovernedProcess> ProcessTable::read() {
  std::vector<PageReading> pages = read_pages(folder_, std::nullopt);
  keep_last_programs(pages);
  std::vector<GovernedProcess> processes;
  std::map<Who, Names> known;  // what is not seen again is forgotten
  for (const PageReading& page : pages) {
    std::optional<GovernedProcess> process = read_process(page);
    if (!process) continue;
    const Names& names = names_of(page, known);
    process->command_line = names.command_line;
    process->cgroup = names.cgroup;
    processes.push_back(std::move(*process));
  }
  names_ = std::move(known);
  std::sort(processes.begin(), processes.end(),
            [](const GovernedProcess& left, const GovernedProcess& right) {
              return std::pair(left.page.run, left.page.pid) < std::pair(right.page.run, right.page.pid);
            });
  return processes;
}

std::vector<GovernedProcess> governed_processes(const std::filesystem::path& folder) {
  return ProcessTable(folder).read();
}

}  // namespace weir::ledger
