#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/arm_limit.h"
#include "lab/design.h"

namespace weir::lab {

/// SHIP: proven as good and cheaper. CLOSE: proven not worth it. VOID: a check failed, so nothing was learnt.
enum class Verdict { kShip, kClose, kInconclusive, kVoid };

/// "SHIP", "CLOSE", "INCONCLUSIVE", "VOID".
[[nodiscard]] std::string verdict_name(Verdict verdict);
[[nodiscard]] std::optional<Verdict> verdict_from_name(const std::string& name);

/// Names of the metrics in `ArmResult::change` and `NoiseFloor::metric`.
inline constexpr const char* kDecode = "decode_tokens_per_second";
inline constexpr const char* kPrefill = "prefill_tokens_per_second";
inline constexpr const char* kPageFaults =
    "page_faults";  ///< Informative: has no p and no part in a verdict.

/// Treatment / baseline over `n` starts (between: blocks of starts). `lower` and `upper` are one-sided bounds
/// at Holm's level: the worse of the paired t and the exact Hodges-Lehmann bound. Unknown (too few starts) is
/// nullopt.
struct Ratio {
  double ratio = 1;
  std::optional<double> lower, upper;
  int n = 0;
  std::optional<double> mde;          ///< Smallest detectable loss at the plan's smallest level, 80 % power.
  std::optional<double> p_not_worse;  ///< Of "the loss is at least the margin": small speaks for SHIP.
  std::optional<double> p_worse;      ///< Of "the loss is at most the margin": small speaks for CLOSE(cost).
};

/// Footprint that the arm keeps less than the baseline, between fresh processes. `lower` and `upper` use the
/// worse ends of both peak intervals and the t bound at Holm's level.
struct Saved {
  std::int64_t value = 0;
  std::optional<std::int64_t> lower, upper;
  int n = 0;                          ///< Footprint starts of the arm with fewer of them.
  std::optional<double> p_saved;      ///< Of "saves at most g": small speaks for SHIP.
  std::optional<double> p_not_saved;  ///< Of "saves at least g": small speaks for CLOSE(no_saving).
};

/// Plain figures of one arm: footprint, peaks and faults from its footprint starts, speeds from its speed
/// turns. Means over starts (of peaks: the upper end of the interval, its low end beside it); rates are
/// total tokens over total time.
struct Measured {
  std::optional<std::int64_t> footprint_peak_bytes, footprint_peak_low_bytes;
  std::optional<std::int64_t> live_peak_bytes, retained_peak_bytes, page_faults;
  std::optional<double> prefill_tokens_per_second, decode_tokens_per_second;
};

struct ArmResult {
  std::string name;
  Allocator allocator = Allocator::kMlx;
  ArmLimit cache_limit;                            ///< As asked.
  std::optional<std::int64_t> cache_limit_bytes;   ///< In force, read back; nullopt: unlimited or never read.
  std::optional<std::int64_t> memory_limit_bytes;  ///< Always nullopt here: no arm sets one.
  bool is_baseline = false;
  std::optional<bool> reached;  ///< nullopt: no limit to reach, or nothing measured.
  Measured measured;
  std::map<std::string, Ratio> change;       ///< Empty for the baseline.
  std::optional<Saved> saved_bytes;          ///< nullopt for the baseline.
  Verdict verdict = Verdict::kInconclusive;  ///< Meaningless for the baseline.
  /// "" for SHIP and the baseline; CLOSE: cost, no_saving; VOID: not_reached, knob, work, indistinguishable,
  /// failed_starts, void_pairs; INCONCLUSIVE: undecided, screen, interrupted.
  std::string reason;
  std::string sentence;  ///< Plain words to quote; "" for the baseline.
};

/// A against A: what two equal turns of one block differ by; between: two equal starts.
struct NoiseFloor {
  std::string metric;
  double sd_pair = 0;  ///< Standard deviation of the log ratio of two equal turns (starts).
  double sd_start =
      0;  ///< Of a start's value (mean over blocks, arm against the mean of both baseline turns).
  std::optional<double>
      mde;          ///< Detectable loss of this plan (share, such as 0.012); unknown below two starts.
  double bias = 1;  ///< One baseline turn / the other, order by lot: near 1 in a sound experiment.
  int starts = 0, pairs = 0;
  std::optional<double> minutes_for_margin;  ///< How long a plan must run here before its MDE is the margin.
};

/// A check that failed, or a warning (carry_over, position, idle_limit, time) that does not void (`is_void`
/// false), in one sentence with its figures.
struct CheckFinding {
  std::string id;
  std::string arm;  ///< "" when it concerns the whole cell.
  bool is_void = true;
  std::string what;
};

struct CellResult {
  std::string name;
  std::vector<ArmResult> arms;  ///< In the plan's order; the baseline is one of them.
  std::vector<NoiseFloor> noise;
  std::vector<CheckFinding> checks_failed;
  int footprint_prompts = 0;  ///< The prefix of the cell's long prompts that footprint starts ran.
  int footprint_prompts_of = 0;
  int shortest_prompt_tokens = 0, longest_prompt_tokens = 0;  ///< Over that prefix.
};

/// The rule as sealed, with `saving_bytes` = max(saving_floor_bytes, saving_share x baseline footprint).
struct Rule {
  double margin = 0.02;
  std::int64_t saving_floor_bytes = 64 << 20;
  double saving_share = 0.05;
  double alpha = 0.05;
  std::optional<std::int64_t> saving_bytes;  ///< Filled once the baseline's footprint is known.
  std::string text;                          ///< "lose <= 2 %, save > 142 MB"
};

/// Where it ran, as the first worker told it and as the plan sealed it.
struct Environment {
  std::string model, model_sha256;
  std::int64_t model_bytes = 0;
  std::string backend, library, blas, machine, weir_sha256;
  int threads = 0;
  std::vector<int> cpus;
};

struct ExperimentResult {
  std::string seal;       ///< SHA-256 of the canonical plan, 64 digits.
  std::string sealed_at;  ///< "2026-11-30T14:02:11Z"
  std::string baseline;
  std::optional<std::string> recommended;
  Rule rule;
  Verdict verdict = Verdict::kInconclusive;
  std::string sentence;
  Design design = Design::kCrossover;
  bool quick = false;             ///< A screen: never SHIP and never CLOSE.
  bool complete = false;          ///< False while blocks of the plan are missing.
  int pairs = 0, void_pairs = 0;  ///< Arm-and-baseline pairs that were measured and kept, and thrown away.
  /// Between: blocks of starts that count, those planned, and the turns of each start.
  int starts = 0, starts_planned = 0, blocks_per_start = 0;
  int looks = 1, looks_done = 0;
  double elapsed_seconds = 0;     ///< Measuring time, over all sittings.
  std::vector<CellResult> cells;  ///< One here.
  Environment environment;
};

}  // namespace weir::lab
