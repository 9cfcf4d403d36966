#include "lab/plan.h"

#include <algorithm>
#include <set>

#include "stats/holm.h"
#include "stats/sizing.h"
#include "stats/wilcoxon.h"

namespace weir::lab {

namespace {

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorKind::kUsage, "plan", std::move(message));
}

Result<void> check_arms(const Question& question) {
  if (question.arms.size() < 2)
    return refuse("needs a baseline and at least one other arm (--limits, --arms)");
  if (question.arms.size() > 16)
    return refuse("takes at most 16 arms: " + std::to_string(question.arms.size()));
  std::set<std::string> names;
  bool found = false;
  for (const auto& arm : question.arms) {
    if (!names.insert(arm.name).second) return refuse("names an arm twice: " + arm.name);
    if (arm.cache_limit.kind == ArmLimit::Kind::kBytes && arm.cache_limit.bytes < 0)
      return refuse("has a negative limit: " + std::to_string(arm.cache_limit.bytes));
    found = found || arm.name == question.baseline;
  }
  if (!found) return refuse("has no arm with the baseline's name: " + question.baseline + " (--baseline)");
  for (const auto& a : question.arms)
    for (const auto& b : question.arms)
      if (&a != &b && same_setting(a, b))
        return refuse("compares two arms that are the same setting: " + a.name + " and " + b.name);
  return {};
}

Result<void> check_rule(const Rule& rule) {
  if (!(rule.margin > 0 && rule.margin < 1)) return refuse("needs a margin between 0 and 1");
  if (!(rule.alpha > 0 && rule.alpha < 0.5)) return refuse("needs an alpha between 0 and 0.5");
  if (rule.saving_floor_bytes < 0 || !(rule.saving_share >= 0 && rule.saving_share < 1))
    return refuse("needs a saving of at least 0 bytes and a share below 1");
  return {};
}

Result<void> check_sizes(const Plan& plan) {
  const DesignSizes& sizes = plan.sizes;
  if (sizes.looks != 1 && sizes.looks != 3) return refuse("takes one look or three");
  if (sizes.looks == 3 && plan.question.rule.alpha != 0.05)
    return refuse("with three looks needs an alpha of 0.05");
  if (sizes.starts < 1 || sizes.blocks_per_start < 1 || sizes.warm_per_turn < 1 ||
      sizes.footprint_starts_per_arm < 1 || sizes.footprint_prompts < 1)
    return refuse("needs at least one start, block, warm request, footprint start and footprint prompt");
  return {};
}

}  // namespace

std::string budget_name(Budget budget) {
  switch (budget) {
    case Budget::kDefault:
      return "default";
    case Budget::kQuick:
      return "quick";
    case Budget::kDecide:
      return "decide";
  }
  return "";
}

Design design_of(const Question& question) {
  const auto pool = [](const Arm& arm) { return is_pool(arm.allocator); };
  const bool all = std::all_of(question.arms.begin(), question.arms.end(), pool);
  const bool none = std::none_of(question.arms.begin(), question.arms.end(), pool);
  return all || none ? Design::kCrossover : Design::kBetween;
}

int records_per_start(const Plan& plan) {
  if (design_of(plan.question) == Design::kCrossover) return plan.sizes.blocks_per_start;
  return static_cast<int>(plan.question.arms.size()) + 1;
}

int baseline_index(const Question& question) {
  for (std::size_t i = 0; i < question.arms.size(); ++i)
    if (question.arms[i].name == question.baseline) return static_cast<int>(i);
  return 0;
}

double look_level(const Plan& plan) {
  return plan.sizes.looks == 3 ? stats::kPocockLevel : plan.question.rule.alpha;
}

int treatments(const Question& question) {
  return static_cast<int>(question.arms.size()) - 1;
}

double smallest_ship_level(const Plan& plan) {
  return look_level(plan) / std::max(1, stats::hypotheses(treatments(plan.question)).ship);
}

Result<void> check_question(const Question& question) {
  if (auto arms = check_arms(question); !arms) return arms;
  if (!(question.minutes > 0 && question.minutes <= 10'000))
    return refuse("needs minutes above 0 and up to 10,000");
  return check_rule(question.rule);
}

Result<void> check_plan(const Plan& plan) {
  if (auto question = check_question(plan.question); !question) return question;
  if (auto sizes = check_sizes(plan); !sizes) return sizes;
  const DesignSizes& sizes = plan.sizes;
  if (plan.question.budget == Budget::kQuick) return {};
  const auto needed = stats::smallest_starts(treatments(plan.question), look_level(plan));
  if (sizes.starts < needed.ship)
    return refuse("cannot reach its levels: SHIP over " + std::to_string(treatments(plan.question)) +
                  " arms needs " + std::to_string(needed.ship) + " starts and CLOSE for cost " +
                  std::to_string(needed.close) + ", it has " + std::to_string(sizes.starts) +
                  ": give it more minutes, or fewer limits");
  if (sizes.footprint_starts_per_arm < 2)
    return refuse("needs two footprint starts per arm or more, it has 1");
  return {};
}

}  // namespace weir::lab
