#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/counters_page.h"

namespace weir::lab {

/// Which allocator answers MLX in a worker.
using Allocator = wire::Allocator;

/// "mlx", "mlx-policy", "weir": the words of flags, JSON and the worker protocol.
[[nodiscard]] std::string allocator_name(Allocator allocator);
[[nodiscard]] std::optional<Allocator> allocator_from_name(std::string_view name);

/// The allocators of weir's pool. One process switches between these; MLX's own rules a process from its
/// first allocation to its last.
[[nodiscard]] constexpr bool is_pool(Allocator allocator) noexcept {
  return allocator != Allocator::kMlx;
}

}  // namespace weir::lab
