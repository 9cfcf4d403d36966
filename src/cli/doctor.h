#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/subcommand.h"
#include "govern/blas.h"
#include "ledger/machine_memory.h"
#include "limits/setting.h"
#include "limits/variables.h"

namespace weir::cli {

/// One thing that is wrong here, and what mends it.
struct Finding {
  std::string id;  ///< "unread-variable", "bad-limit", "reference-blas", "no-blas", "cgroup-below-ram", …
  std::string severity;  ///< "error": a run would fail; "warning": it would be slow, or not as meant.
  std::string what;
  std::string mend;
};

/// What the findings are made from; read from this process and machine by the subcommand, made up by tests.
struct DoctorFacts {
  limits::Variables variables;
  Result<limits::Resolved> limits;
  govern::BlasIdentity blas;
  Result<ledger::MachineMemory> memory;
  Result<std::filesystem::path> default_model;
  std::string blas_kernel = "";         ///< The kernel that OpenBLAS chose, such as "Prescott".
  std::string better_blas_kernel = "";  ///< What this processor deserves instead; "" when nothing is better.
};

[[nodiscard]] std::vector<Finding> find_faults(const DoctorFacts& facts);

/// `weir doctor [--json]`. Findings are a result, not a failure: exit 0.
[[nodiscard]] Subcommand doctor_subcommand();

}  // namespace weir::cli
