#pragma once

#include <string>
#include <string_view>

namespace weir::llm {

/// A chat template's text without what makes no difference: two templates with the same result say the same.
/// Blanks between the words inside tags go, "x" and 'x' are one, m['role'] is m.role, \n in a string is a
/// newline, and white space at tags is cut as the template language does it ("{%-", "-%}", a newline after a
/// block tag, blanks before one on its line). Comments go. Any text is taken; nothing is checked.
[[nodiscard]] std::string normalised_template(std::string_view source);

}  // namespace weir::llm
