#pragma once

#include <optional>
#include <string>

#include "cli/subcommand.h"
#include "limits/backend_rules.h"
#include "wire/counters_page.h"

namespace weir::cli {

/// `--allocator`, for a subcommand's table; `into` must live as long as the subcommand. Only the three names
/// get through.
[[nodiscard]] Flag allocator_flag(std::optional<std::string>& into);

/// The allocator that the flag names, `absent` without one.
[[nodiscard]] wire::Allocator named_allocator(const std::optional<std::string>& flag, wire::Allocator absent);

/// What the limits rule under this allocator.
[[nodiscard]] const limits::BackendRules& rules_of(wire::Allocator allocator) noexcept;

}  // namespace weir::cli
