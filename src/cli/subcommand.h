#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace weir::cli {

/// Where a flag's value goes: a switch, a text, a whole number (base 10), a number, or every text given.
using FlagTarget = std::variant<bool*, std::optional<std::string>*, std::optional<std::int64_t>*,
                                std::optional<double>*, std::vector<std::string>*>;

/// One flag of a subcommand. `--help`, parsing and the shells' completion all come from this record.
struct Flag {
  std::string name;   ///< "--cache-limit", or "-n,--tokens".
  std::string value;  ///< What `--help` calls its value, "SIZE"; "" for a switch.
  std::string help;
  FlagTarget into;
  std::vector<std::string> choices = {};  ///< All values there are, offered and enforced; {}: any.
};

/// One word without a dash.
struct Positional {
  std::string name;  ///< "MODEL".
  std::string help;
  std::optional<std::string>* into;
  bool required = false;
  std::vector<std::string> choices;  ///< Offered by completion, not enforced.
};

/// What every subcommand gets beside its own flags.
struct Invocation {
  bool quiet = false;
  /// The words after the first `--`; nullopt without one.
  std::optional<std::vector<std::string>> command;
};

/// One subcommand: a row of the table in subcommands.cpp. Flags and positionals point into state that `run`
/// owns (a shared_ptr to an options struct, because both are copied together).
struct Subcommand {
  std::string name;
  std::string summary;  ///< One line, for the list of subcommands.
  std::string example;  ///< Whole command lines, shown under `--help`.
  std::vector<Positional> positionals;
  std::vector<Flag> flags;
  /// The exit code of a completed run (0 unless the contract says otherwise); an Error becomes its own code.
  std::function<Result<int>(const Invocation&)> run;
  bool takes_command = false;  ///< false: words after `--` are a usage error.
  bool hidden = false;         ///< Absent from `--help` and completion.
};

/// "weir: <line>" to stderr unless --quiet: weir's own words.
void note(const Invocation& invocation, std::string_view line);

/// To stdout, as it is: a result. The program checks at its end that all of it could be written.
void print_result(std::string_view text);

/// The same, and out at once: text that is read while it grows.
void stream_result(std::string_view text);

/// Writes out what is buffered; the errno of the first write of a result that failed, 0 when all went well.
[[nodiscard]] int finish_result();

}  // namespace weir::cli
