#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir {

enum class Utf8Kind {
  kValid,       ///< A whole character.
  kInvalid,     ///< Bytes that no continuation can make valid.
  kIncomplete,  ///< The text ends inside a character that is valid so far.
};

struct Utf8Step {
  std::size_t length;  ///< Bytes of the character, or of the maximal part of an ill-formed one; at least 1.
  Utf8Kind kind;
};

/// The first character of a text that is not empty (Unicode 15, section 3.9, tables 3-7 and 3-8).
[[nodiscard]] Utf8Step first_utf8(std::string_view text);

/// Appends the code point, which must be a Unicode scalar value.
void append_utf8(char32_t code_point, std::string& out);

}  // namespace weir
