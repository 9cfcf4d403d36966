#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/allocator_flag.h"
#include "cli/subcommand.h"
#include "limits/resolve.h"
#include "wire/agent_settings.h"

namespace weir::cli {

/// The flags that say how a process is governed, as typed; what is absent has its default.
struct GovernFlags {
  std::optional<std::string> allocator, host_clear, children, huge_pages, trim_at;
  bool enforce = false;
};

/// The flags for a subcommand's table; `into` must live as long as the subcommand.
[[nodiscard]] std::vector<Flag> govern_flags(GovernFlags& into);

/// Of the flag's value; its default is `weir`.
[[nodiscard]] wire::Allocator allocator_of(const GovernFlags& flags);

/// What a governed process is told: integers only. kUsage where the allocator cannot keep the memory limit,
/// or cannot trim by itself.
[[nodiscard]] Result<wire::AgentSettings> agent_settings(const GovernFlags& flags,
                                                         const limits::Resolved& limits, std::uint64_t run);

/// The settings of a `weir run` that this one runs inside of; nullopt without one.
[[nodiscard]] std::optional<wire::AgentSettings> surrounding_settings(const limits::Variables& variables);

/// `own` inside `outer`: its limits hold too (the smaller of both), its run is joined, what it forbids stays
/// forbidden, and its boundaries hold unless this one names its own. kUsage where the allocator cannot keep
/// the outer memory limit.
[[nodiscard]] Result<wire::AgentSettings> nested_settings(const wire::AgentSettings& own,
                                                          const wire::AgentSettings& outer,
                                                          bool names_boundaries);

/// How a child is told.
struct AgentEnvironment {
  wire::AgentSettings settings;
  std::filesystem::path pages;  ///< Folder of the counters pages; empty: none can be had.
  std::filesystem::path agent;  ///< The library to preload; empty: the child runs without it.
};

/// `inherited` ("NAME=value" each) with WEIR_AGENT, WEIR_AGENT_PAGES and LD_PRELOAD as the child needs them;
/// the agent stands before what is preloaded already, once. Everything else stays as it is. Pure.
[[nodiscard]] std::vector<std::string> child_environment(const std::vector<std::string>& inherited,
                                                         const AgentEnvironment& agent);

/// This process's own.
[[nodiscard]] std::vector<std::string> own_environment();

}  // namespace weir::cli
