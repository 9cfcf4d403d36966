#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "limits/setting.h"

namespace weir::limits {

/// A share of a named amount, kept as decimal digits so that no digit is lost: "12.5%free" is {12, "5",
/// "free"}.
struct Percentage {
  std::uint64_t whole = 0;
  std::string fraction;  ///< Digits after the point, without trailing zeros.
  std::string of;        ///< "free", "total" or "model".

  bool operator==(const Percentage&) const = default;
};

/// What a size text says. Exactly one of `bytes` and `percentage` is set when mode is kBytes, else neither.
struct Size {
  Mode mode = Mode::kUnset;
  std::optional<std::int64_t> bytes;
  std::optional<Percentage> percentage;

  bool operator==(const Size&) const = default;
};

/// The size grammar (docs/reference/limits.md), the only parser of sizes. Exact integer arithmetic, fractions
/// rounded down, linear in the text, independent of the locale. `where` is the flag, variable or file that
/// the text came from. Anything outside the grammar is kUsage and carries the text (escaped, shortened) and a
/// correct example; 0 as a memory limit too.
[[nodiscard]] Result<Size> parse_size(std::string_view text, Knob knob, std::string_view where);

/// A whole number in a unit of `unit_bytes`, and nothing else: for names whose home counts in that unit.
[[nodiscard]] Result<std::int64_t> parse_count(std::string_view text, std::int64_t unit_bytes,
                                               std::string_view where);

/// floor(percentage of `denominator_bytes`); nullopt when it exceeds the largest size. A negative denominator
/// counts as 0.
[[nodiscard]] std::optional<std::int64_t> bytes_of(const Percentage& percentage,
                                                   std::int64_t denominator_bytes);

/// The text in quotes, for a message: control and non-ASCII bytes as \xNN, long texts shortened.
[[nodiscard]] std::string shown(std::string_view text);

/// Without surrounding spaces and tabs.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// "write a size such as 512MiB, …": how to say it right, for messages about this knob.
[[nodiscard]] std::string correct_example(Knob knob);

}  // namespace weir::limits
