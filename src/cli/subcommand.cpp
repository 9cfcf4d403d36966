#include "cli/subcommand.h"

#include <cstdio>

namespace weir::cli {

void note(const Invocation& invocation, std::string_view line) {
  if (invocation.quiet) return;
  const std::string text = "weir: " + std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void print_result(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace weir::cli
