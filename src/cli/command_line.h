#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/subcommand.h"

namespace weir::cli {

/// What a command line asks for: a subcommand to run, or a text to print (help, version).
struct CommandLine {
  const Subcommand* subcommand = nullptr;  ///< Into the table that was given; nullptr: print `text`.
  Invocation invocation;
  std::string text;
};

/// Reads the words after the program's name: split at the first `--`, the rest by the table's flags, which
/// are filled. Whatever is not understood is kUsage, with the nearest name that exists.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& words,
                                                     const std::vector<Subcommand>& table);

}  // namespace weir::cli
