#pragma once

#include <vector>

#include "lab/plan.h"
#include "lab/records.h"

namespace weir::lab {

/// One arm against the baseline. Speed: one value a start, the mean over its blocks of
/// ln(arm) - (ln(baseline turn) + ln(other baseline turn)) / 2 of the rate, total tokens over total seconds
/// of the measured requests. In the between design a block of starts is one value, and a process is its turn.
/// Footprint: one value a round of footprint starts, in bytes, baseline minus arm,
/// taken once with the ends that make it smallest (low of the baseline, high of the arm) and once with those
/// that make it largest.
struct ArmSamples {
  std::vector<double> decode, prefill;
  std::vector<double> saved_low, saved_mid, saved_high;
};

/// Baseline against baseline: ln(second turn) - ln(first) of every block, and their mean for each start.
struct EqualSamples {
  std::vector<double> decode_blocks, prefill_blocks, decode_starts, prefill_starts;
};

struct Samples {
  std::vector<ArmSamples> arms;  ///< By arm index; the baseline's stays empty.
  EqualSamples equal;
  int blocks = 0;
};

/// The blocks within which arms may be compared. Crossover: the records themselves. Between: one for each
/// block of starts whose two baseline processes are there, with one turn a process, in running order, which
/// holds the requests of all its turns.
[[nodiscard]] std::vector<BlockRecord> comparable_blocks(const Plan& plan, const Records& records);

/// Rates of one turn's measured requests.
[[nodiscard]] double prefill_rate(const TurnRecord& turn);
[[nodiscard]] double decode_rate(const TurnRecord& turn);

/// Over the speed starts below `starts` and all footprint rounds in which both arms completed.
[[nodiscard]] Samples collect(const Plan& plan, const Records& records, int starts);

/// Footprint records of one arm.
[[nodiscard]] std::vector<FootprintRecord> footprints_of(const Records& records, int arm);

}  // namespace weir::lab
