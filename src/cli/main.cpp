#include "cli/program.h"

#include <cstdlib>

int main(int argc, char** argv) {
  // Not exit(): everything is written, and MLX's threads may wait for ever in the library's destructors after
  // an allocation failed.
  std::_Exit(weir::cli::run_program(argc, argv));
}
