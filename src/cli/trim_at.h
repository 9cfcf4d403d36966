#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"
#include "wire/agent_settings.h"

namespace weir::cli {

/// Boundaries as AgentSettings holds them.
struct Boundaries {
  std::uint32_t trim_at = 0;
  std::uint64_t idle_ms = 0;

  bool operator==(const Boundaries&) const = default;
};

/// What --trim-at says: `none`, or by comma `request`, `phase`, `idle=SECONDS` (above 0, at most 1,000,000,
/// with at most three decimals), `pressure`, each once. Absent: idle=30,pressure under `weir`, else none.
/// kUsage: any other text, or more than none under `mlx`. Pure.
[[nodiscard]] Result<Boundaries> boundaries_of(const std::optional<std::string>& list,
                                               wire::Allocator allocator);

/// The list that leads to them: "idle=30,pressure", "none".
[[nodiscard]] std::string boundaries_text(const Boundaries& boundaries);

}  // namespace weir::cli
