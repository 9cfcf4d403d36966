#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "lab/arm_limit.h"
#include "lab/result.h"

namespace weir::lab {

/// How much is run. Fixed before the first block; the data change it only at a sealed look.
struct DesignSizes {
  /// The n of every speed statistic. Crossover: fresh processes. Between: blocks of fresh processes.
  int starts = 6;
  /// Crossover: blocks of one start; each runs every arm once and the baseline twice. Between: turns of one
  /// process.
  int blocks_per_start = 4;
  int warm_per_turn = 1;  ///< Enough for an unlimited turn to reach the limits, as far as the cell allows.
  int footprint_starts_per_arm = 3;
  int footprint_prompts = 1;  ///< Prefix of the cell's footprint prompts, the same in every footprint start.
  int looks = 1;              ///< 1, or 3 (Pocock: n/3, 2n/3, n at 0.0232 each).
  friend bool operator==(const DesignSizes&, const DesignSizes&) = default;
};

/// What the caller wants to spend.
enum class Budget { kDefault, kQuick, kDecide };

/// Everything that is asked. Two equal questions have one hash, so the same command finds its unfinished
/// plan. `sizes` are no part of the hash: they follow from the budget and a timing probe, and are sealed with
/// the plan.
struct Question {
  std::string model, model_sha256;
  std::int64_t model_bytes = 0;
  std::string library, backend, blas;
  int threads = 0;
  std::vector<int> cpus;  ///< The worker is pinned to these; empty: wherever we may run.
  std::string machine;
  std::string weir_sha256;          ///< Of the executable that measures.
  std::vector<std::string> worker;  ///< The worker's command where it is not weir itself.
  std::string cell, cell_sha256;
  std::vector<Arm> arms;  ///< Includes the baseline.
  std::string baseline;
  Rule rule;  ///< Only what is asked: `saving_bytes` and `text` are no part of it.
  Budget budget = Budget::kDefault;
  double minutes = 5;
};

/// What the timing probe saw before the plan was sealed: it fixes the sizes and is no data of the experiment.
/// It runs without a limit, so it also says how much the workload can make the library retain.
struct Probe {
  std::int64_t load_milliseconds = 0;  ///< Process start to ready.
  std::int64_t turn_milliseconds = 0;  ///< One warm speed turn.
  std::int64_t footprint_start_milliseconds =
      0;                                 ///< One footprint start with the chosen prefix, load included.
  std::int64_t retained_peak_bytes = 0;  ///< Over the chosen prefix.
  std::int64_t footprint_peak_bytes = 0;
  bool reached = false;  ///< Retained at least the largest finite limit plus g.
  std::int64_t spent_milliseconds =
      0;  ///< All of the probe, its process start included: a part of the minutes.
  friend bool operator==(const Probe&, const Probe&) = default;
};

/// A question with its sizes, its seed and the moment of sealing. Immutable once sealed.
struct Plan {
  Question question;
  DesignSizes sizes;
  Probe probe;
  std::uint64_t seed = 0;
  std::string sealed_at;
};

[[nodiscard]] std::string budget_name(Budget budget);

/// Crossover where one process can run all arms: all on MLX's own allocator, or all on the pool's.
[[nodiscard]] Design design_of(const Question& question);
/// Block records that one start leaves. Crossover: its blocks. Between: one for each process of the block of
/// starts, every arm's and the baseline's second.
[[nodiscard]] int records_per_start(const Plan& plan);
/// Index of the baseline among the arms; 0 where no arm has its name.
[[nodiscard]] int baseline_index(const Question& question);

/// JSON with sorted keys and no white space; shares are written as integers in millionths and minutes in
/// thousandths, so that no number prints in two ways. `design` is written where it is not the crossover.
[[nodiscard]] std::string canonical_json(const Plan& plan);
[[nodiscard]] Result<Plan> plan_from_json(std::string_view json);

/// SHA-256 of the canonical plan.
[[nodiscard]] std::string seal(const Plan& plan);
/// SHA-256 of the canonical question: no sizes, no seed, no time.
[[nodiscard]] std::string question_hash(const Question& question);

/// Level of one look: the rule's alpha, or Pocock's under three looks.
[[nodiscard]] double look_level(const Plan& plan);
/// Arms other than the baseline.
[[nodiscard]] int treatments(const Question& question);
/// The plan's smallest level for SHIP: `look_level` over the arms (stats/holm.h).
[[nodiscard]] double smallest_ship_level(const Plan& plan);

/// What `check_plan` says of arms and rule alone: for refusing before anything is started.
[[nodiscard]] Result<void> check_question(const Question& question);

/// kUsage, with the numbers, when the plan cannot be run or its starts cannot reach SHIP's level: fewer than
/// two arms, a baseline that is no arm, two equal arms, sizes below one, three looks at another alpha than
/// 0.05, or footprint starts below two. A quick plan is a screen and is let through.
[[nodiscard]] Result<void> check_plan(const Plan& plan);

}  // namespace weir::lab
