#pragma once

#include "lab/cell.h"
#include "lab/plan.h"
#include "lab/records.h"
#include "lab/result.h"

namespace weir::lab {

/// How far the records have come.
struct Standing {
  bool footprints_done = false;
  int settled_starts = 0;  ///< Leading speed starts that are complete or given up.
  int looks_done = 0;
  bool finished = false;  ///< Nothing of the plan is left to run: all starts settled, a look that decided
                          ///< every arm, every arm void, or a screen whose time is up.
};

/// Pure: an experiment that goes on after a crash stands exactly where its records say.
[[nodiscard]] Standing standing(const Plan& plan, const Records& records);

/// The whole result from plan and records alone. While the plan is not finished no arm gets a verdict but
/// VOID: an unplanned look would break the error rate. Under three looks an arm keeps the verdict of the look
/// that decided it.
[[nodiscard]] ExperimentResult analyse(const Plan& plan, const Cell& cell, const Records& records);

}  // namespace weir::lab
