#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "limits/setting.h"

namespace weir::limits {

/// Variables by name, injected so that tests need no process environment.
using Variables = std::map<std::string, std::string, std::less<>>;

/// A copy of this process's environment; of a name given twice, the first, as getenv answers.
[[nodiscard]] Variables own_variables();

/// Another program's name for one of the knobs, read with its home's unit and its home's zero.
struct CompatibleName {
  std::string_view name;
  Knob knob;
  std::int64_t unit_bytes;  ///< 1: the whole size grammar; else a whole number in this unit.
  bool zero_binds;          ///< false: 0 means "do not bound", so the name then binds nothing.
};

/// In order of precedence.
[[nodiscard]] std::span<const CompatibleName> compatible_names() noexcept;

/// Every WEIR_* variable that weir reads, with what it is for.
struct WeirVariable {
  std::string_view name;
  std::string_view what;
};
[[nodiscard]] std::span<const WeirVariable> weir_variables() noexcept;

/// One warning for each set variable that looks like a knob and that nothing here reads: names known from
/// elsewhere, WEIR_* names that do not exist, and near misses of names that do. In order of name.
[[nodiscard]] std::vector<Warning> unread_variables(const Variables& variables);

}  // namespace weir::limits
