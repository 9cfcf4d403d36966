#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/doctor_neighbours.h"
#include "cli/doctor_places.h"
#include "cli/subcommand.h"
#include "govern/blas.h"
#include "ledger/cgroup.h"
#include "ledger/machine_memory.h"
#include "ledger/machine_settings.h"
#include "limits/setting.h"
#include "limits/variables.h"

namespace weir::cli {

/// One thing that is wrong here, or good to know, and what mends it.
struct Finding {
  std::string
      id;  ///< A stable word: "unread-variable", "cgroup-below-ram", …; docs/reference/cli.md has all.
  std::string severity;  ///< "error": a run would fail; "warning": it would be slow, or not as meant; "note":
                         ///< right as it is for most, and worth knowing.
  std::string what;
  std::string mend;  ///< Begins with the command, where there is one.
};

using Findings = std::vector<Finding>;

/// What the findings are made from; read from this process and machine by the subcommand, made up by tests.
struct DoctorFacts {
  limits::Variables variables;
  Result<limits::Resolved> limits;
  govern::BlasIdentity blas;
  Result<ledger::MachineMemory> memory;
  Result<std::filesystem::path> default_model;
  std::string blas_kernel = "";         ///< The kernel that OpenBLAS chose, such as "Prescott".
  std::string better_blas_kernel = "";  ///< What this processor deserves instead; "" when nothing is better.
  ledger::CgroupMemory cgroup = {};
  ledger::CgroupName cgroup_name = {};
  ledger::MachineSettings settings = {};
  Neighbours neighbours = {};
  Places places = {};
};

/// All of them: errors first, then warnings, then notes; each in the order in which it was looked for.
[[nodiscard]] Findings find_faults(const DoctorFacts& facts);

/// `weir doctor [--json]`. Findings are a result, not a failure: exit 0.
[[nodiscard]] Subcommand doctor_subcommand();

}  // namespace weir::cli
