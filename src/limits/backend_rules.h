#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "limits/setting.h"

namespace weir::limits {

/// What a backend does with the knobs; a row for each backend that this program was run on.
struct BackendRules {
  std::string_view name;          ///< "mlx-cpu".
  std::string_view cache_limit;   ///< What it rules, one sentence for people.
  std::string_view memory_limit;  ///< The same.
  std::int64_t default_cache_limit_bytes;
  std::int64_t default_memory_tenths;  ///< The default memory limit in tenths of the machine's RAM.

  [[nodiscard]] std::string_view rules(Knob knob) const noexcept {
    return knob == Knob::kCacheLimit ? cache_limit : memory_limit;
  }
  /// What `unset` comes to; nullopt when it depends on a total that is not known.
  [[nodiscard]] std::optional<std::int64_t> default_bytes(Knob knob,
                                                          std::optional<std::int64_t> total_bytes) const;
};

[[nodiscard]] std::span<const BackendRules> backend_rules() noexcept;

/// The row of MLX's CPU backend, the one that this program runs on.
[[nodiscard]] const BackendRules& mlx_cpu_rules() noexcept;

}  // namespace weir::limits
