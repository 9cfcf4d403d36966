#pragma once

#include <string>
#include <vector>

#include "lab/plan.h"
#include "lab/records.h"
#include "lab/result.h"

namespace weir::lab {

/// "lose ≤ 2 %, save > 142 MB".
[[nodiscard]] std::string rule_text(const Rule& rule);

/// "1.2 %": a share, without sign.
[[nodiscard]] std::string percent(double share);
/// "+1.2 %" or "−3.1 %": a ratio as its distance from 1.
[[nodiscard]] std::string change_percent(double ratio);

/// The plain sentence of one arm, from its verdict, reason and figures; begins with the arm's name.
[[nodiscard]] std::string arm_sentence(const Plan& plan, const Records& records, const Rule& rule,
                                       const std::vector<CheckFinding>& findings, const ArmResult& arm);

}  // namespace weir::lab
