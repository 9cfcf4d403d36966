#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "lab/cell.h"
#include "lab/executor.h"
#include "lab/plan.h"
#include "lab/result.h"
#include "store/store.h"

namespace weir::lab {

/// What the caller asks. Model, library, threads and machine come from the worker itself.
struct ExperimentRequest {
  Cell cell;
  std::vector<Arm> arms;  ///< Includes the baseline.
  std::string baseline;
  Rule rule;
  Budget budget = Budget::kDefault;
  double minutes = 5;               ///< Wall time of the whole experiment. Quick: 1.8.
  bool start_afresh = false;        ///< `--new`: an unfinished plan of the same question is closed.
  std::vector<int> cpus;            ///< As the executor pins them; sealed.
  std::string weir_sha256;          ///< Of the executable.
  std::vector<std::string> worker;  ///< The worker's command where it is not weir itself; sealed.
  std::uint64_t seed = 0;           ///< For a new plan.
};

enum class Phase { kProbe, kFootprint, kSpeed };

/// Sent before each piece of work. `total` is fixed by the plan; a look may end it earlier.
struct Progress {
  Phase phase = Phase::kProbe;
  int done = 0, total = 0;
  double seconds_left = 0;  ///< Of the whole experiment, by what has been measured so far.
  std::string what;         ///< "footprint start 3 of 12 (64 MiB)", "start 2 of 6, block 3 of 4"
};

/// What the experiment stands on. The store also holds the lock that keeps two runs of one plan apart.
struct Surroundings {
  IExecutor& executor;
  store::Store& store;
  IClock& clock;
  std::function<void(const Plan& plan, bool resumed)>
      sealed;                                     ///< Once, before the first measured start. May be empty.
  std::function<void(const Progress&)> progress;  ///< May be empty.
  std::function<bool()> interrupted;              ///< May be empty: never.
};

struct Outcome {
  ExperimentResult result;
  Plan plan;
  bool resumed = false;
  bool interrupted = false;  ///< The plan stays open: the same request goes on with it.
};

/// Runs an experiment, or goes on with the unfinished one of the same question.
///
/// Order: one probing start (no data) that fixes the sizes; the plan is sealed in the store; footprint
/// starts; if an arm is then not void, speed starts with their blocks. Each footprint start and each block is
/// stored as it ends. A worker runs on its arm's allocator from the start; on the baseline's where it is to
/// run all arms, and that one never has to be left for MLX's own. A worker that fails costs the start an
/// attempt; after two the start is given up and the experiment goes on (the checks judge what is left). A
/// finished plan is stored with its result and its curve points in one transaction. Errors: a question that
/// cannot be asked (kUsage), a worker that never gets ready, the store. Not thread-safe.
[[nodiscard]] Result<Outcome> run_experiment(const ExperimentRequest& request,
                                             const Surroundings& surroundings);

/// Points of the curve, one an arm; none of a screen or of a void arm, which would hide older verdicts, and
/// none of an arm on MLX's own allocator that was held against one of the pool's. Keyed by the model's
/// sha256, machine, library, cell and the arm's name, which holds its allocator. The JSON is the arm's part
/// of the result's JSON.
[[nodiscard]] std::vector<store::CurvePoint> curve_points(const ExperimentResult& result,
                                                          std::int64_t measured_at);

}  // namespace weir::lab
