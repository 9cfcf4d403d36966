#include "cli/subcommands.h"

#include "cli/completion.h"
#include "cli/ctl.h"
#include "cli/curve_hooks.h"
#include "cli/doctor.h"
#include "cli/generate.h"
#include "cli/limits.h"
#include "cli/price.h"
#include "cli/ps.h"
#include "cli/run.h"
#include "cli/top.h"
#include "cli/worker.h"

namespace weir::cli {

std::vector<Subcommand> subcommands() {
  return {
      price_subcommand(),
      generate_subcommand(curve_hooks()),
      run_subcommand(),
      ps_subcommand(),
      top_subcommand(),
      ctl_subcommand(),
      limits_subcommand(curve_hooks()),
      doctor_subcommand(),
      completion_subcommand(subcommands),
      worker_subcommand(),
  };
}

}  // namespace weir::cli
