#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/mlx_sightings.h"
#include "cli/run_watch.h"
#include "limits/setting.h"
#include "wire/agent_settings.h"

namespace weir::cli {

/// Who decided the exit code.
enum class ExitOrigin { kChild, kSignal, kWeir };

/// Everything that is known about a run at its end.
struct RunSummary {
  std::string command;  ///< Base name of the program; its arguments are nobody's business.
  limits::Resolved limits;
  wire::AgentSettings settings;
  std::vector<GovernedProgram> programs;
  std::vector<ledger::ProcessPeak> peaks;
  std::optional<ledger::Layers> layers_peak;  ///< nullopt: nobody was sampled.
  std::optional<ledger::PeakFootprint> footprint_peak;
  std::map<pid_t, Sighting> sightings;  ///< Processes that had MLX mapped, governed or not.
  pid_t child = 0;                      ///< What weir started; 0: nothing.
  bool has_pages = true;                ///< false: no folder for pages, so nothing can be known.
  std::string obstacle;                 ///< Why nothing was attached, or ""; with --best-effort.
  double seconds = 0;
  int child_code = 0;  ///< 128 + n for a signal.
  int exit_code = 0;   ///< What weir ends with.
  ExitOrigin origin = ExitOrigin::kChild;
};

/// Whether MLX ran under weir's rule.
struct Verdict {
  std::optional<bool> governed;  ///< nullopt: not known.
  std::string reason;            ///< Why not; "" when governed.
  bool demands_69 = false;       ///< MLX ran and nobody governed it, although somebody asked for that.
};

/// From the pages and sightings. Pure.
[[nodiscard]] Verdict verdict_of(const RunSummary& run);

/// The processes that had MLX mapped without the agent, or were given up by it; "PID COMMAND" each. Pure.
[[nodiscard]] std::vector<std::pair<pid_t, std::string>> ungoverned_of(const RunSummary& run);

/// The processes that are governed, as their libraries tell, and could make no page; "PID COMMAND" each.
/// Pure.
[[nodiscard]] std::vector<std::pair<pid_t, std::string>> unseen_of(const RunSummary& run);

/// What --summary and --json write (docs/reference/cli.md#run). Unknown is null. Pure.
[[nodiscard]] nlohmann::json to_json(const RunSummary& run);

/// The same for people, without "weir: ". Pure.
[[nodiscard]] std::vector<std::string> summary_lines(const RunSummary& run);

}  // namespace weir::cli
