#pragma once

namespace weir::cli {

/// The whole program: parses, runs the subcommand, catches what is thrown, checks that stdout took
/// everything, and answers the exit code (docs/reference/cli.md#exit-codes). Called once, by main.
int run_program(int argc, char** argv);

}  // namespace weir::cli
