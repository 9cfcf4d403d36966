#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::limits {

enum class Knob { kCacheLimit, kMemoryLimit };
enum class Mode { kBytes, kUnset, kUnlimited, kAuto };

/// The value of one knob: what was asked, by whom, and what the backend then uses. A percentage is kBytes
/// with its denominator named.
struct Setting {
  Mode mode = Mode::kUnset;
  std::optional<std::int64_t> bytes;  ///< Only when mode is kBytes.
  /// What the backend then uses; nullopt: unlimited, or `unset_text` says what.
  std::optional<std::int64_t> effective_bytes;
  std::string denominator;  ///< "free", "total", "model" or "".
  std::optional<std::int64_t> denominator_bytes;
  std::string source;  ///< A flag, a variable, the config file's path, or "library default".
  std::string text;    ///< As the user wrote it, "" when nobody did.
  std::string rules;   ///< What the knob rules on this backend, one sentence.
  std::string note;    ///< What `auto` answered and why; "" otherwise.
  /// What `unset` comes to where that is no number ("follows demand"); "" where it is, or is not asked for.
  std::string unset_text = "";
};

/// A variable that does not do what its owner hopes: nothing reads it, or it binds nothing.
struct Warning {
  std::string name;
  std::string what;
};

struct Resolved {
  Setting cache_limit;
  Setting memory_limit;
  std::vector<Warning> warnings;
};

inline constexpr const char* kLibraryDefault = "library default";

/// The one line every entry prints: "64MiB = 67,108,864 bytes (--cache-limit)",
/// "unset (library default, 33,554,432 bytes)", "unset (follows demand)", "10%free = 5 bytes
/// (WEIR_CACHE_LIMIT; free is 50 bytes)".
[[nodiscard]] std::string echo(const Setting& setting);

/// The same without the source, for a table that has a column for it.
[[nodiscard]] std::string echo_value(const Setting& setting);

/// "bytes", "unset", "unlimited", "auto".
[[nodiscard]] const char* mode_name(Mode mode) noexcept;

/// The names of one knob: "cache limit", "--cache-limit", "WEIR_CACHE_LIMIT", "cache_limit".
struct KnobNames {
  Knob knob;
  const char* name;
  const char* flag;
  const char* variable;
  const char* key;
};

[[nodiscard]] const KnobNames& knob_names(Knob knob) noexcept;

}  // namespace weir::limits
