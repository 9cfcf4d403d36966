#include "lab/result.h"

namespace weir::lab {

std::string verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kShip:
      return "SHIP";
    case Verdict::kClose:
      return "CLOSE";
    case Verdict::kInconclusive:
      return "INCONCLUSIVE";
    case Verdict::kVoid:
      return "VOID";
  }
  return "";
}

std::optional<Verdict> verdict_from_name(const std::string& name) {
  for (const auto verdict : {Verdict::kShip, Verdict::kClose, Verdict::kInconclusive, Verdict::kVoid})
    if (name == verdict_name(verdict)) return verdict;
  return std::nullopt;
}

std::string design_name(Design design) {
  return design == Design::kBetween ? "between" : "crossover";
}

std::optional<Design> design_from_name(const std::string& name) {
  for (const auto design : {Design::kCrossover, Design::kBetween})
    if (name == design_name(design)) return design;
  return std::nullopt;
}

}  // namespace weir::lab
