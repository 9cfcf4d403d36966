#include "lab/plan.h"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/schedule.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

Plan four_arms() {
  Plan plan;
  plan.question.model = "m";
  plan.question.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::unset()),
                        make_arm(ArmLimit::of(64 << 20)), make_arm(ArmLimit::of(0))};
  plan.question.baseline = "unlimited";
  plan.probe = {1'500, 3'000, 6'000, 150, 290, true, 21'000};
  plan.seed = 0xfedcba9876543210u;
  plan.sealed_at = "2026-11-30T14:02:11Z";
  return plan;
}

Cell cell(bool repeat) {
  Cell out;
  out.name = "c";
  out.text = "t";
  out.repeat = repeat;
  out.shortest_prompt_tokens = 100;
  out.longest_prompt_tokens = 300;
  return out;
}

TEST(Plan, SurvivesItsCanonicalForm) {
  const Plan plan = four_arms();
  const auto again = plan_from_json(canonical_json(plan));
  ASSERT_TRUE(again) << describe(again.error());
  EXPECT_EQ(canonical_json(*again), canonical_json(plan));
  EXPECT_EQ(seal(*again), seal(plan));
  EXPECT_EQ(again->probe, plan.probe);
  EXPECT_EQ(again->sizes, plan.sizes);
  EXPECT_EQ(seal(plan).size(), 64u);
}

TEST(Plan, TheSealCoversEverythingAndTheQuestionOnlyWhatIsAsked) {
  const Plan plan = four_arms();
  Plan other = plan;
  other.seed = 2;
  EXPECT_NE(seal(other), seal(plan));
  other = plan;
  other.sizes.starts = 9;
  EXPECT_NE(seal(other), seal(plan));
  EXPECT_EQ(question_hash(other.question), question_hash(plan.question));
  other.question.rule.margin = 0.03;
  EXPECT_NE(question_hash(other.question), question_hash(plan.question));
  other = plan;
  other.question.cell_sha256 = "b";
  EXPECT_NE(question_hash(other.question), question_hash(plan.question));
}

TEST(Plan, RefusesTooFewStartsWithTheNumbers) {
  Plan plan = four_arms();
  EXPECT_TRUE(check_plan(plan));
  plan.sizes.starts = 5;
  const auto refused = check_plan(plan);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(refused.error().message, testing::AllOf(HasSubstr("SHIP over 3 arms needs 6 starts"),
                                                      HasSubstr("cost 8"), HasSubstr("it has 5")));
  plan.question.budget = Budget::kQuick;
  EXPECT_TRUE(check_plan(plan));
}

TEST(Plan, RefusesASingleFootprintStart) {
  Plan plan = four_arms();
  plan.sizes.footprint_starts_per_arm = 1;
  EXPECT_THAT(check_plan(plan).error().message, HasSubstr("two footprint starts per arm or more, it has 1"));
  plan.question.budget = Budget::kQuick;
  EXPECT_TRUE(check_plan(plan));
}

TEST(Plan, RefusesArmsThatCannotBeCompared) {
  Plan plan = four_arms();
  plan.question.baseline = "2 GiB";
  EXPECT_THAT(check_plan(plan).error().message, HasSubstr("2 GiB"));
  plan = four_arms();
  plan.question.arms.push_back(make_arm(ArmLimit::of(kLibraryDefaultBytes)));
  EXPECT_THAT(check_plan(plan).error().message, HasSubstr("same setting"));
  plan.question.arms.resize(1);
  EXPECT_FALSE(check_plan(plan));
}

TEST(Schedule, IsAFunctionOfTheSeed) {
  const Plan plan = four_arms();
  Plan other = plan;
  other.seed = 7;
  int differing = 0;
  for (int block = 0; block < 20; ++block) {
    EXPECT_EQ(schedule(plan, cell(false), 1, block), schedule(plan, cell(false), 1, block));
    differing += schedule(plan, cell(false), 1, block) == schedule(other, cell(false), 1, block) ? 0 : 1;
  }
  EXPECT_GT(differing, 15);
  EXPECT_NE(footprint_order(plan), footprint_order(other));
}

TEST(Schedule, EveryBlockHasEachArmOnceAndTheBaselineTwice) {
  std::map<int, int> first_arm;
  for (int start = 0; start < 30; ++start) {
    const auto block = schedule(four_arms(), cell(false), start, 0);
    std::multiset<int> arms;
    for (const auto& turn : block.turns)
      arms.insert(turn.arm);
    EXPECT_EQ(arms, (std::multiset<int>{0, 0, 1, 2, 3}));
    ++first_arm[block.turns[0].arm];
  }
  EXPECT_EQ(first_arm.size(), 4u);
}

TEST(Schedule, FreshLengthsNeverRepeatWithinAStart) {
  Plan plan = four_arms();
  plan.sizes.warm_per_turn = 2;
  const int most = most_blocks_per_start(cell(false), 2);
  ASSERT_EQ(most, 67);
  std::set<int> seen;
  for (int block = 0; block < most; ++block) {
    const auto requests = schedule(plan, cell(false), 3, block);
    for (const auto* part : {&requests.warm, &requests.measured})
      for (const auto& request : *part) {
        EXPECT_TRUE(seen.insert(request.prompt_tokens).second) << request.prompt_tokens;
        EXPECT_TRUE(request.prompt_tokens >= 100 && request.prompt_tokens <= 300);
      }
  }
}

TEST(Schedule, RepeatedLengthsAgreeBetweenWarmAndMeasured) {
  Plan plan = four_arms();
  plan.sizes.warm_per_turn = 3;
  const auto a = schedule(plan, cell(true), 0, 0);
  const auto b = schedule(plan, cell(true), 4, 5);
  for (const auto& warm : a.warm)
    EXPECT_EQ(warm.prompt_tokens, a.measured[0].prompt_tokens);
  EXPECT_EQ(a.measured[0].prompt_tokens, b.measured[0].prompt_tokens);
  EXPECT_EQ(a.measured[0].prompt_tokens, 200);
}

TEST(Schedule, FootprintRoundsHoldEveryArm) {
  const auto order = footprint_order(four_arms());
  ASSERT_EQ(order.size(), 12u);
  for (int round = 0; round < 3; ++round)
    EXPECT_THAT(std::vector<int>(order.begin() + round * 4, order.begin() + round * 4 + 4),
                testing::UnorderedElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace weir::lab
