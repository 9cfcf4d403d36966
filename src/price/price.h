#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "lab/experiment.h"
#include "limits/resolve.h"
#include "price/arms.h"
#include "store/state_dir.h"

namespace weir::price {

/// What the caller asks; everything left out has the default of `weir price`.
struct PriceRequest {
  std::string model = "smollm2";
  std::string workload = "churn";  ///< A cell's name, or the path of a TOML file.
  ArmWords arms;
  lab::Budget budget = lab::Budget::kDefault;
  double minutes = 5;  ///< Wall time of the whole; a quick run has its own.
  bool start_afresh = false;
  std::optional<std::filesystem::path> report;  ///< nullopt: weir-price-<seal's first 8>.md in `folder`.
  std::optional<std::string> worker;  ///< A program of the worker's protocol instead of weir itself.
  std::uint64_t seed = 0;             ///< Of a new plan.
  std::string command;                ///< The command line, for the report.
};

/// What pricing stands on. References outlive the call; functions may be empty.
struct Surroundings {
  IClock& clock;
  store::Environment environment;  ///< Says where the state folder is.
  std::filesystem::path folder;    ///< Where the report goes.
  std::filesystem::path workloads;
  limits::Denominators denominators;
  std::map<std::string, std::string> variables;  ///< Allow-listed ones, for the report.
  lab::IExecutor* executor = nullptr;            ///< nullptr: worker processes.
  std::function<void(const lab::Plan&, bool resumed)> sealed;
  std::function<void(const lab::Progress&)> progress;
  std::function<bool()> interrupted;
};

struct Priced {
  lab::ExperimentResult result;
  std::filesystem::path report;  ///< "" when interrupted: nothing is written then.
  bool stored_curve = false;
  bool interrupted = false;  ///< Completed blocks are kept; the same request goes on with them.
};

/// Prices limits: builds the experiment, runs it or goes on with its unfinished plan, keeps result and curve
/// in the store, writes the Markdown report.
///
/// Words, cell, report folder and state folder are checked before any process is started: kUsage for what was
/// asked, kEnvironment for a folder that cannot be written, kNoRoom for a full disk. Not thread-safe.
[[nodiscard]] Result<Priced> price(const PriceRequest& request, const Surroundings& surroundings);

}  // namespace weir::price
