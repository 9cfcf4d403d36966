#include "cli/run.h"

#include <sys/stat.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/run_neighbours.h"
#include "cli/run_start.h"
#include "cli/run_summary.h"
#include "cli/trim_at.h"
#include "ledger/outside_text.h"
#include "price/output_place.h"
#include "wire/counters_page.h"

namespace weir::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kSummaryMode = 0600;

std::string json_text(const RunSummary& summary, int indent) {
  return to_json(summary).dump(indent, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// Lives as long as the child and looks at it now and then.
class Supervision {
 public:
  Supervision(const RunStart& start, pid_t child)
      : watch_(start.pages, start.settings.run, start.joined), sightings_(child) {}

  ChildExit wait(ForegroundChild& child) {
    for (;;) {
      if (const auto exit = child.wait(watch_.pause())) return *exit;
      look();
    }
  }

  /// After the end: the last pages, and everything in its place.
  void report(RunSummary& summary) {
    watch_.sample();
    watch_.settle();
    summary.programs = watch_.programs();
    summary.peaks = watch_.peak().processes();
    if (!summary.peaks.empty()) {
      summary.layers_peak = watch_.peak().together();
      summary.footprint_peak = watch_.peak().footprint();
    }
    summary.sightings = sightings_.seen();
    summary.seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  }

 private:
  /// Whatever goes wrong here, the program goes on, and the next look may do better.
  void look() noexcept {
    try {
      watch_.sample();
      sightings_.look_if_due(std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start_));
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    }
  }

  Clock::time_point start_ = Clock::now();
  RunWatch watch_;
  MlxSightings sightings_;
};

void decide_exit(const RunOptions& options, const ChildExit& exit, RunSummary& summary) {
  summary.child_code = summary.exit_code = exit.code;
  summary.origin = exit.by_signal ? ExitOrigin::kSignal : ExitOrigin::kChild;
  if (exit.code != 0 || options.best_effort || !verdict_of(summary).demands_69) return;
  summary.exit_code = exit_code(ErrorKind::kEnvironment);
  summary.origin = ExitOrigin::kWeir;
}

/// The pages of this run, unless somebody still lives behind one or the run is another's.
void clean_up(const RunStart& start, const RunSummary& summary) {
  if (start.pages.empty() || start.joined) return;
  std::error_code ignored;
  std::set<std::string> living;  // one pid may have been several programs, and they share its file
  for (const GovernedProgram& program : summary.programs)
    if (program.page.alive) living.insert(ledger::page_file_name(program.page.run, program.page.pid));
  for (const GovernedProgram& program : summary.programs) {
    const std::string file = ledger::page_file_name(program.page.run, program.page.pid);
    if (living.count(file) == 0) std::filesystem::remove(start.pages / file, ignored);
  }
}

/// Whether a process could make its page there now.
bool has_room(const std::filesystem::path& pages) {
  return !pages.empty() && price::check_room(pages, wire::kPageBytes, "").has_value();
}

Result<void> run_attached(const RunOptions& options, const RunStart& start, RunSummary& summary) {
  if (interrupt_requested())
    return fail(ErrorKind::kEnvironment, start.child.program, "interrupted before it was started");
  auto child = ForegroundChild::start(start.child);
  if (!child) return tl::unexpected(std::move(child.error()));
  summary.child = child->pid();
  summary.obstacle = start.obstacle;
  summary.has_pages = !start.pages.empty();
  Supervision supervision(start, child->pid());
  const ChildExit exit = supervision.wait(*child);
  supervision.report(summary);
  if (summary.programs.empty()) summary.has_pages = has_room(start.pages);
  decide_exit(options, exit, summary);
  clean_up(start, summary);
  return {};
}

/// Where the summary goes, known before anything starts.
Result<std::filesystem::path> summary_file(const RunOptions& options) {
  if (!options.summary) return std::filesystem::path();
  if (options.summary->empty()) return fail(ErrorKind::kUsage, "--summary", "names no file");
  auto file = price::check_output_file(*options.summary, "name another file with --summary");
  if (!file && file.error().kind == ErrorKind::kUsage) file.error().where = "--summary " + *options.summary;
  struct stat ignored {};
  if (file && ::lstat(file->c_str(), &ignored) != 0 && errno != ENOENT)  // such as too long a name
    return tl::unexpected(system_error(*file, "write", errno));
  return file;
}

Result<void> publish(const RunOptions& options, const Invocation& invocation,
                     const std::filesystem::path& file, const RunSummary& summary) {
  for (const std::string& line : summary_lines(summary))
    note(invocation, line);
  Result<void> written;
  if (!file.empty()) written = write_atomically(file, json_text(summary, 2), kSummaryMode);
  if (options.json) {
    const std::string line = json_text(summary, -1);
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
  return written;
}

/// A run that never started is told in the summary too.
void publish_refusal(const std::filesystem::path& file, const RunOptions& options, const Error& error,
                     RunSummary& summary) {
  summary.obstacle = describe(error);
  summary.exit_code = exit_code(error.kind);
  summary.origin = ExitOrigin::kWeir;
  const Invocation quiet{true, std::nullopt};
  (void)publish(options, quiet, file, summary);  // the error itself is on its way to stderr
}

void note_start(const RunOptions& options, const Invocation& invocation, const RunStart& start) {
  note_limits(invocation, start.limits);
  if (options.govern.trim_at)
    note(invocation,
         "trim at " + boundaries_text({start.settings.trim_at, start.settings.idle_ms}) + " (--trim-at)");
  if (!start.joined) return;
  const auto text = [](bool none, std::uint64_t bytes) {
    return none || bytes == wire::kNoLimit ? "none" : exact_bytes(static_cast<std::int64_t>(bytes));
  };
  note(invocation,
       fmt::format("inside another weir run, whose limits hold too: cache limit {}, memory limit {}",
                   text(start.settings.cache_unset, start.settings.cache_limit),
                   text(false, start.settings.memory_limit)));
}

/// A machine without /proc is told in the summary as every other obstacle is.
Result<void> try_attach(const RunOptions& options, const Invocation& invocation,
                        const limits::Variables& variables, RunStart& start) {
  try {
    return attach_run(options, invocation, variables, start);
  } catch (const Failure& failure) {
    return tl::unexpected(failure.error());
  }
}

Result<int> run_run(const RunOptions& options, const Invocation& invocation) {
  if (!invocation.command || invocation.command->empty())
    return fail(ErrorKind::kUsage, "weir run",
                "names no command; for example: weir run -- python3 program.py");
  // Whoever reads our lines may leave before the program ends; the program gets its own signals back.
  std::signal(SIGPIPE, SIG_IGN);
  const limits::Variables variables = limits::own_variables();
  auto start = resolve_run(options, variables);
  if (!start) return tl::unexpected(std::move(start.error()));
  const auto file = summary_file(options);
  if (!file) return tl::unexpected(file.error());
  RunSummary summary;
  summary.command =
      ledger::fit_for_output(std::filesystem::path(invocation.command->front()).filename().string());
  summary.limits = start->limits;
  summary.settings = start->settings;
  Result<void> done = try_attach(options, invocation, variables, *start);
  if (done) {
    note_start(options, invocation, *start);
    if (const std::string line = make_room(*start); !line.empty()) note(invocation, line);
    done = run_attached(options, *start, summary);
  }
  if (!done) {
    publish_refusal(*file, options, done.error(), summary);
    return tl::unexpected(std::move(done.error()));
  }
  if (auto published = publish(options, invocation, *file, summary); !published && summary.exit_code == 0)
    return tl::unexpected(std::move(published.error()));
  return summary.exit_code;
}

std::vector<Flag> run_flags(RunOptions& options) {
  std::vector<Flag> flags = limit_flags(options.limits);
  for (Flag& flag : govern_flags(options.govern))
    flags.push_back(std::move(flag));
  flags.push_back(
      {"--best-effort", "", "Run the program also where it cannot be governed", &options.best_effort});
  flags.push_back({"--summary", "FILE", "Write the summary as JSON to FILE at the end", &options.summary});
  flags.push_back(
      {"--json", "", "Write the summary as one line of JSON to stderr at the end", &options.json});
  return flags;
}

}  // namespace

Subcommand run_subcommand() {
  const auto options = std::make_shared<RunOptions>();
  Subcommand subcommand;
  subcommand.name = "run";
  subcommand.summary = "Govern any MLX process without changing it: weir run [flags] -- COMMAND…";
  subcommand.example =
      "  weir run --cache-limit 64MiB -- python3 train.py\n"
      "  weir run --memory-limit 8GiB --summary run.json -- mlx_lm.server --port 8080";
  subcommand.flags = run_flags(*options);
  subcommand.takes_command = true;
  subcommand.run = [options](const Invocation& invocation) { return run_run(*options, invocation); };
  return subcommand;
}

}  // namespace weir::cli
