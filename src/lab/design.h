#pragma once

#include <optional>
#include <string>

namespace weir::lab {

/// How arms are held against each other. Crossover: each start runs all arms in turn, and the start is the
/// unit. Between: each start runs one arm, because the arms cannot be switched in one process; a block of
/// starts holds every arm once and the baseline twice, and the block is the unit.
enum class Design { kCrossover, kBetween };

/// "crossover", "between".
[[nodiscard]] std::string design_name(Design design);
[[nodiscard]] std::optional<Design> design_from_name(const std::string& name);

}  // namespace weir::lab
