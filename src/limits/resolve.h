#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/error.h"
#include "limits/backend_rules.h"
#include "limits/setting.h"
#include "limits/variables.h"

namespace weir::limits {

/// What percentages are of. Asked only when a percentage (or, for `total`, a default) needs it.
struct Denominators {
  std::function<Result<std::int64_t>()> free;   ///< The smaller of MemAvailable and cgroup head-room.
  std::function<Result<std::int64_t>()> total;  ///< The machine's RAM.
  std::function<Result<std::int64_t>()> model;  ///< The model file's bytes; empty where no model is named.
};

/// What the stored suite says `auto` is for this model, machine and library.
struct AutoAnswer {
  Mode mode = Mode::kBytes;           ///< kBytes, kUnset or kUnlimited.
  std::optional<std::int64_t> bytes;  ///< When mode is kBytes.
  std::string why;                    ///< "fresh SHIP in every cell of the stored suite".
};

/// Everything a resolution reads; no other state of the process or machine has a say.
struct Inputs {
  std::optional<std::string> cache_limit_flag;
  std::optional<std::string> memory_limit_flag;
  Variables variables;
  std::optional<std::filesystem::path> config;  ///< Usually config_path(variables).
  Denominators denominators;
  /// Empty, or answering nullopt: `auto` then behaves as unset, and says so.
  std::function<std::optional<AutoAnswer>()> auto_answer;
  const BackendRules* backend = &mlx_cpu_rules();
};

/// Both knobs by the order flag > WEIR_* > compatibility name > config file > library default, with warnings.
/// Every source that is present must parse, also one that a higher one overrules; two compatibility names
/// that disagree are an error also then. Errors name the source; most are kUsage. Not to be called
/// concurrently on inputs whose functions are not thread-safe.
[[nodiscard]] Result<Resolved> resolve(const Inputs& inputs);

}  // namespace weir::limits
