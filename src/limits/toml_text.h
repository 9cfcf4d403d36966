#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace weir::limits {

/// Where a text cannot be given to toml++, and why.
struct TomlFault {
  std::size_t line = 0;
  std::string what;
};

/// toml++ 3.3 aborts on some control characters (TOML allows none but tab and line ends), and its recursion
/// runs out of stack on a dotted key of a hundred thousand parts: both are found here, before it parses.
[[nodiscard]] std::optional<TomlFault> toml_fault(std::string_view text);

}  // namespace weir::limits
