#pragma once

#include <string>
#include <string_view>

namespace weir::report {

/// What the place that text goes to can show.
struct Style {
  bool unicode = true;  ///< False: typographic signs are spelled in ASCII.
  bool colour = false;  ///< ANSI colours on verdicts.
  int width = 0;        ///< Columns; 0: as wide as the text needs.
};

/// The style of a descriptor. A file or a pipe gets plain UTF-8 of any width. A terminal gets its own width,
/// ASCII where the locale's codeset is not UTF-8, and colour unless NO_COLOR is set or TERM is "dumb" or
/// missing. Reads the environment's locale without changing the process's. Thread-safe.
[[nodiscard]] Style style_of(int fd);

/// The text as the style can show it: control characters become "?", so that a name from outside cannot steer
/// the terminal; bytes that are no UTF-8 become "?"; without unicode "−≥≤±×–·→" are spelled "- >= <= +/- x -
/// | ->" and any other sign is "?". Newlines become spaces.
[[nodiscard]] std::string spelled(std::string_view text, const Style& style);

/// Columns that UTF-8 text takes in a terminal: 0 for combining signs, 2 for wide ones, 1 otherwise.
[[nodiscard]] int display_width(std::string_view text);

/// The text broken at spaces into lines of at most `width` columns (0: one line), each further one indented.
[[nodiscard]] std::string wrapped(std::string_view text, int width, std::string_view indent = "");

}  // namespace weir::report
