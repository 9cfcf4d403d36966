#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/subcommand.h"
#include "limits/resolve.h"
#include "wire/counters_page.h"

namespace weir::cli {

/// What the store adds to `weir limits`; each may be empty. The argument is the model as the user named it,
/// "smollm2" when nobody did.
struct LimitsHooks {
  /// The allocator's own curve answers, another's never.
  std::function<std::optional<limits::AutoAnswer>(const std::string& model, wire::Allocator allocator)>
      auto_answer;
  /// The stored curve as lines for people, shown under the table.
  std::function<std::vector<std::string>(const std::string& model)> stored_curve;
};

/// `weir limits [MODEL] [--cache-limit SIZE] [--memory-limit SIZE] [--json]`, `weir limits --pid PID
/// [--json]`.
[[nodiscard]] Subcommand limits_subcommand(LimitsHooks hooks);

}  // namespace weir::cli
