#include "cli/run_start.h"

#include <unistd.h>
#include <cstdlib>

#include <fmt/format.h>

#include "base/child_process.h"
#include "cli/run_attach.h"
#include "ledger/governed_page.h"
#include "price/output_place.h"
#include "wire/counters_page.h"

namespace weir::cli {
namespace {

/// `auto` needs a model, and which one a foreign program runs nobody knows.
limits::AutoAnswer no_model() {
  return {limits::Mode::kUnset, std::nullopt, "weir run does not know the program's model; name a limit"};
}

/// Where governed processes put their pages, with room for one; stale ones are gone.
Result<std::filesystem::path> pages_folder(const limits::Variables& variables, bool joined) {
  if (const auto outer = variables.find(wire::kPagesVariable); joined && outer != variables.end())
    return std::filesystem::path(outer->second);
  auto folder = ledger::runtime_folder();
  if (!folder) return folder;
  (void)ledger::remove_stale_pages(*folder);
  auto room = price::check_room(*folder, wire::kPageBytes, "free some space there, or set WEIR_RUNTIME_DIR");
  if (!room) return fail(ErrorKind::kEnvironment, room.error().where, room.error().message);
  return folder;
}

/// What stands in the way is an error, or with --best-effort one line and a note in the summary.
Result<void> accept(const RunOptions& options, const Invocation& invocation, const Error& error,
                    const char* outcome) {
  if (!options.best_effort || error.kind != ErrorKind::kEnvironment) return tl::unexpected(error);
  note(invocation, "warning: " + describe(error) + ": " + outcome);
  return {};
}

}  // namespace

Result<RunStart> resolve_run(const RunOptions& options, const limits::Variables& variables) {
  limits::Inputs inputs = limit_inputs(options.limits, std::nullopt);
  inputs.backend = &rules_of(allocator_of(options.govern));
  inputs.auto_answer = no_model;
  auto limits = limits::resolve(inputs);
  if (!limits) return tl::unexpected(std::move(limits.error()));
  auto settings = agent_settings(options.govern, *limits, static_cast<std::uint64_t>(::getpid()));
  if (!settings) return tl::unexpected(std::move(settings.error()));
  RunStart start;
  start.limits = std::move(*limits);
  start.settings = *settings;
  if (const auto outer = surrounding_settings(variables); outer && outer->run != 0) {
    const auto nested = nested_settings(*settings, *outer, options.govern.trim_at.has_value());
    if (!nested) return tl::unexpected(nested.error());
    start.settings = *nested;
    start.joined = true;
  }
  return start;
}

Result<void> attach_run(const RunOptions& options, const Invocation& invocation,
                        const limits::Variables& variables, RunStart& start) {
  const auto program = find_program(invocation.command->front(), variables);
  if (!program) return tl::unexpected(program.error());
  AgentEnvironment agent{start.settings, {}, {}};
  if (auto library = agent_library(own_executable()); library) {
    agent.agent = *library;
  } else if (auto go_on = accept(options, invocation, library.error(), "it runs ungoverned"); !go_on) {
    return go_on;
  } else {
    start.obstacle = describe(library.error());
  }
  if (const auto obstacle = attach_obstacle(program->loaded)) {
    auto go_on = accept(options, invocation, obstacle->error, "it runs ungoverned");
    if (!go_on) return go_on;
    start.obstacle = describe(obstacle->error);
    if (!obstacle->children_attach) agent.agent.clear();
  }
  if (auto pages = pages_folder(variables, start.joined); pages) {
    start.pages = std::move(*pages);
  } else if (auto go_on = accept(options, invocation, pages.error(), "it runs without pages, unseen");
             !go_on) {
    return go_on;
  }
  agent.pages = start.pages;
  start.child = {program->file.string(), *invocation.command, child_environment(own_environment(), agent)};
  return {};
}

}  // namespace weir::cli
