#include "limits/toml_text.h"

namespace weir::limits {

namespace {
constexpr int kMostDotsInALine = 10'000;
}

std::optional<TomlFault> toml_fault(std::string_view text) {
  std::size_t line = 1;
  int dots = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      ++line;
      dots = 0;
    }
    if ((byte < 0x20 && c != '\t' && c != '\n' && c != '\r') || byte == 0x7f)
      return TomlFault{line, "a control character; remove it"};
    if (c == '.' && ++dots > kMostDotsInALine)
      return TomlFault{line, "over 10,000 dots in one line; shorten it"};
  }
  return std::nullopt;
}

}  // namespace weir::limits
