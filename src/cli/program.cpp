#include "cli/program.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

#include "base/error.h"
#include "base/file.h"
#include "base/inherited_signals.h"
#include "base/interrupt.h"
#include "cli/command_line.h"
#include "cli/subcommands.h"

namespace weir::cli {
namespace {

constexpr int kSignalBase = 128;

/// Errors are printed also under --quiet.
int report(const Error& error) {
  const std::string text = "weir: " + describe(error) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
  return exit_code(error.kind);
}

Result<int> run(const std::vector<std::string>& words) {
  const std::vector<Subcommand> table = subcommands();
  const auto line = parse_command_line(words, table);
  if (!line) return tl::unexpected(line.error());
  if (line->subcommand != nullptr) return line->subcommand->run(line->invocation);
  print_result(line->text);
  return 0;
}

/// The one place where exceptions end.
Result<int> run_caught(const std::vector<std::string>& words) {
  try {
    return run(words);
  } catch (const Failure& failure) {
    return tl::unexpected(failure.error());
  } catch (const std::bad_alloc& error) {
    return fail(ErrorKind::kNoRoom, "memory", std::string("an allocation failed: ") + error.what());
  } catch (const std::exception& error) {
    return fail(ErrorKind::kInternal, "weir", std::string("unexpected: ") + error.what());
  }
}

/// A result that could not be written is not a result.
int flushed(int code) {
  const int failure = finish_result();
  if (failure == 0) return code;
  if (failure == EPIPE) return kSignalBase + SIGPIPE;
  return report(system_error("stdout", "write the result", failure));
}

}  // namespace

int run_program(int argc, char** argv) {
  note_inherited_signals();
  // A reader that leaves early ends us without a word, also when our parent ignored the signal.
  std::signal(SIGPIPE, SIG_DFL);
  const InterruptGuard interrupts;
  const std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto code = run_caught(words);
  const int exit = code ? flushed(*code) : report(code.error());
  if (!code) (void)finish_result();
  return interrupt_requested() ? kSignalBase + interrupt_signal() : exit;
}

}  // namespace weir::cli
