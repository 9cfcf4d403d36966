#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/plan.h"
#include "lab/records.h"
#include "lab/result.h"

namespace weir::report {

/// One fresh process of the crossover, or one block of starts of the between design, as it ran.
struct SpeedStart {
  int index = 0;
  std::string status;                            ///< "complete", or why it does not count.
  std::vector<std::vector<std::string>> blocks;  ///< Arms in running order, block by block; between: one.
  std::map<std::string, std::map<std::string, double>> ratio;  ///< Arm -> metric -> ratio to the baseline.
};

/// One fresh process that measured the footprint of one arm.
struct FootprintStart {
  int index = 0;
  std::string arm, status;
  lab::Measured measured;
};

/// What was run, in the order of time: the part of a report that the result's summary leaves out.
struct RunRecord {
  lab::Design design = lab::Design::kCrossover;
  std::vector<SpeedStart> speed;
  std::vector<FootprintStart> footprint;
  std::string command;                           ///< What makes this report again.
  std::map<std::string, std::string> variables;  ///< Allow-listed environment variables that were set.
};

/// Starts with their blocks and values, and what cut starts short; `command` and `variables` are the
/// caller's. Pure.
[[nodiscard]] RunRecord run_record_of(const lab::Plan& plan, const lab::Records& records);

}  // namespace weir::report
