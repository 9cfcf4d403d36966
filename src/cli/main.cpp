#include <cstdlib>
#include <string_view>

#include "cli/program.h"
#include "govern/blas_kernel.h"
#include "govern/process_governor.h"

namespace {

/// Whether the first word that is no flag names this subcommand.
bool names(int argc, char** argv, std::string_view subcommand) {
  for (int i = 1; i < argc; ++i)
    if (argv[i][0] != '-') return argv[i] == subcommand;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  // Before signals, descriptors and variables are looked at: it may start this process anew.
  if (names(argc, argv, "run")) weir::govern::forgo_blas_threads();
  // Not exit(): everything is written, and MLX's threads may wait for ever in the library's destructors after
  // an allocation failed.
  const int code = weir::cli::run_program(argc, argv);
  weir::govern::end_process();
  std::_Exit(code);
}
