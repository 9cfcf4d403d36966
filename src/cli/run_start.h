#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/foreground_child.h"
#include "cli/limit_flags.h"
#include "cli/run_settings.h"
#include "cli/subcommand.h"

namespace weir::cli {

/// The words of a `weir run`.
struct RunOptions {
  LimitFlags limits;
  GovernFlags govern;
  std::optional<std::string> summary;
  bool best_effort = false;
  bool json = false;
};

/// All that is decided before a program starts.
struct RunStart {
  limits::Resolved limits;
  wire::AgentSettings settings;
  bool joined = false;          ///< A `weir run` around this one owns the run and its pages.
  std::filesystem::path pages;  ///< Empty: there are none.
  std::string obstacle;         ///< Why the program runs without the agent; "" when it does not.
  ForegroundSpec child;
};

/// The limits under the chosen allocator, and what the governed processes are told.
[[nodiscard]] Result<RunStart> resolve_run(const RunOptions& options, const limits::Variables& variables);

/// Finds the program and whether the agent can be attached, and makes room for the pages; fills `pages`,
/// `obstacle` and `child`. What stands in the way is kEnvironment, or under --best-effort a line of weir's
/// own.
[[nodiscard]] Result<void> attach_run(const RunOptions& options, const Invocation& invocation,
                                      const limits::Variables& variables, RunStart& start);

}  // namespace weir::cli
