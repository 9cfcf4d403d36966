#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "limits/setting.h"

namespace weir::limits {

/// What answers MLX does with the knobs: a row for MLX's own allocator on each backend (cuda and metal read
/// from its sources, not run on hardware), and one for each allocator of weir's pool.
struct BackendRules {
  std::string_view name;          ///< "mlx-cpu".
  std::string_view cache_limit;   ///< What it rules, one sentence for people.
  std::string_view memory_limit;  ///< The same.
  std::optional<std::int64_t> default_cache_limit_bytes;
  std::optional<std::int64_t> default_memory_tenths;  ///< The default, in tenths of the machine's RAM.
  std::string_view unset_cache_limit;                 ///< What `unset` comes to where it is no number.
  std::string_view unset_memory_limit;                ///< The same.

  [[nodiscard]] std::string_view rules(Knob knob) const noexcept {
    return knob == Knob::kCacheLimit ? cache_limit : memory_limit;
  }
  [[nodiscard]] std::string_view unset_text(Knob knob) const noexcept {
    return knob == Knob::kCacheLimit ? unset_cache_limit : unset_memory_limit;
  }
  /// What `unset` comes to; nullopt when it is no number, or depends on a total that is not known.
  [[nodiscard]] std::optional<std::int64_t> default_bytes(Knob knob,
                                                          std::optional<std::int64_t> total_bytes) const;
};

[[nodiscard]] std::span<const BackendRules> backend_rules() noexcept;

/// The row of MLX's CPU backend, the one that this program runs on.
[[nodiscard]] const BackendRules& mlx_cpu_rules() noexcept;
/// The pool under MLX's own rule, and under weir's.
[[nodiscard]] const BackendRules& mlx_policy_rules() noexcept;
[[nodiscard]] const BackendRules& weir_pool_rules() noexcept;
/// MLX's own allocator on CUDA, and on Metal, which weir governs by MLX's limits. Not run on hardware.
[[nodiscard]] const BackendRules& mlx_cuda_rules() noexcept;
[[nodiscard]] const BackendRules& mlx_metal_rules() noexcept;

}  // namespace weir::limits
