#include "lab/design.h"

namespace weir::lab {

std::string design_name(Design design) {
  return design == Design::kBetween ? "between" : "crossover";
}

std::optional<Design> design_from_name(const std::string& name) {
  for (const auto design : {Design::kCrossover, Design::kBetween})
    if (name == design_name(design)) return design;
  return std::nullopt;
}

}  // namespace weir::lab
