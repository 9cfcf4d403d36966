#include "cli/subcommand.h"

#include <cerrno>
#include <cstdio>

namespace weir::cli {

void note(const Invocation& invocation, std::string_view line) {
  if (invocation.quiet) return;
  const std::string text = "weir: " + std::string(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

namespace {

int first_failure = 0;  // results are printed by the main thread alone

void remember(bool written) {
  if (!written && first_failure == 0) first_failure = errno == 0 ? EIO : errno;
}

}  // namespace

void print_result(std::string_view text) {
  errno = 0;
  remember(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

void stream_result(std::string_view text) {
  print_result(text);
  (void)finish_result();
}

int finish_result() {
  errno = 0;
  remember(std::fflush(stdout) == 0 && std::ferror(stdout) == 0);
  return first_failure;
}

}  // namespace weir::cli
