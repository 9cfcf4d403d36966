#include "price/arms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::price {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

limits::Denominators denominators() {
  limits::Denominators all;
  all.free = [] { return Result<std::int64_t>(1000); };
  return all;
}

std::vector<std::string> names(const ChosenArms& chosen) {
  std::vector<std::string> all;
  for (const lab::Arm& arm : chosen.arms)
    all.push_back(arm.name);
  return all;
}

Error error_of(const ArmWords& words) {
  const Result<ChosenArms> chosen = chosen_arms(words, denominators());
  EXPECT_FALSE(chosen);
  return chosen ? Error{} : chosen.error();
}

TEST(ChosenArms, WithoutWordsTheDefaultsArePriced) {
  const auto chosen = chosen_arms({}, denominators());
  ASSERT_TRUE(chosen);
  EXPECT_THAT(names(*chosen), ElementsAre("unlimited", "unset (32 MiB)", "64 MiB", "0"));
  EXPECT_EQ(chosen->baseline, "unlimited");
}

TEST(ChosenArms, TheBaselineIsAlwaysAnArmAndNeverTwice) {
  EXPECT_THAT(names(*chosen_arms({"512MiB", {}, {}}, denominators())), ElementsAre("unlimited", "512 MiB"));
  EXPECT_THAT(names(*chosen_arms({"512MiB,unlimited", {}, {}}, denominators())),
              ElementsAre("512 MiB", "unlimited"));
  EXPECT_EQ(chosen_arms({"0,64MiB", {}, "67108864"}, denominators())->baseline, "64 MiB");
}

TEST(ChosenArms, PercentagesBecomeBytes) {
  EXPECT_EQ(chosen_arms({"50%free", {}, {}}, denominators())->arms.back().cache_limit,
            lab::ArmLimit::of(500));
  EXPECT_EQ(error_of({"50%model", {}, {}}).kind, ErrorKind::kUsage);
}

TEST(ChosenArms, TwoArmsOfOneValueAreRefused) {
  EXPECT_THAT(error_of({"64MiB,67108864", {}, {}}).message, HasSubstr("64 MiB and 64 MiB"));
  EXPECT_THAT(error_of({"unset,32MiB", {}, {}}).message, HasSubstr("nothing can tell apart"));
}

TEST(ChosenArms, ABadSizeNamesItsFlagAndText) {
  const Error error = error_of({"64MiB,abc", {}, {}});
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_EQ(error.where, "--limits");
  EXPECT_THAT(error.message, HasSubstr("abc"));
  EXPECT_EQ(error_of({"64MiB,", {}, {}}).kind, ErrorKind::kUsage);
  EXPECT_EQ(error_of({"auto", {}, {}}).kind, ErrorKind::kUsage);
  EXPECT_EQ(error_of({{}, {}, "-1"}).where, "--baseline");
}

TEST(ChosenArms, TheBaselineAloneIsNothingToPrice) {
  EXPECT_THAT(error_of({"unlimited", {}, {}}).message, HasSubstr("nothing to compare"));
}

TEST(ChosenArms, ArmsNameAnAllocator) {
  EXPECT_THAT(names(*chosen_arms({{}, "mlx:unlimited,mlx:64MiB,mlx", {}}, denominators())),
              ElementsAre("unlimited", "64 MiB", "unset (32 MiB)"));
  EXPECT_EQ(error_of({{}, "cuda:1GiB", {}}).kind, ErrorKind::kUsage);
  EXPECT_EQ(error_of({"0", "mlx:0", {}}).kind, ErrorKind::kUsage);
}

TEST(ChosenArms, AnArmWithoutASizeIsUnset) {
  const auto chosen = chosen_arms({{}, "weir,mlx-policy:64MiB,mlx:0", {}}, denominators());
  ASSERT_TRUE(chosen);
  EXPECT_THAT(names(*chosen), ElementsAre("mlx-policy unlimited", "weir unset", "mlx-policy 64 MiB", "0"));
  EXPECT_EQ(chosen->arms[1].allocator, lab::Allocator::kWeir);
  EXPECT_EQ(chosen->arms[1].cache_limit, lab::ArmLimit::unset());
  EXPECT_EQ(chosen->arms[3].allocator, lab::Allocator::kMlx);
}

TEST(ChosenArms, TheBaselineIsUnlimitedOnTheFamilyOfTheFirstArm) {
  EXPECT_EQ(chosen_arms({{}, "weir", {}}, denominators())->baseline, "mlx-policy unlimited");
  EXPECT_EQ(chosen_arms({{}, "mlx:0,weir", {}}, denominators())->baseline, "unlimited");
  EXPECT_EQ(chosen_arms({{}, "weir:0", "64MiB"}, denominators())->baseline, "mlx-policy 64 MiB");
  EXPECT_EQ(chosen_arms({{}, "weir:0", "mlx"}, denominators())->baseline, "unset (32 MiB)");
  EXPECT_EQ(chosen_arms({{}, "mlx:0", "weir:64MiB"}, denominators())->baseline, "weir 64 MiB");
  EXPECT_EQ(chosen_arms({"0", {}, "weir"}, denominators())->baseline, "weir unset");
  EXPECT_EQ(chosen_arms({{}, "weir,mlx-policy:unlimited", {}}, denominators())->baseline,
            "mlx-policy unlimited");
}

TEST(ChosenArms, ArmsOfOneValueAreTwoOnlyOnTwoAllocators) {
  EXPECT_TRUE(chosen_arms({{}, "weir:0,mlx-policy:0,mlx:0", {}}, denominators()));
  EXPECT_THAT(error_of({{}, "weir,weir:unlimited", {}}).message, HasSubstr("weir unset and weir unlimited"));
  EXPECT_THAT(error_of({{}, "mlx-policy:32MiB,mlx-policy", {}}).message, HasSubstr("nothing can tell apart"));
  const Error baseline = error_of({{}, "weir,mlx-policy:32MiB", "mlx-policy"});
  EXPECT_EQ(baseline.kind, ErrorKind::kUsage);
  EXPECT_THAT(baseline.message, HasSubstr("mlx-policy 32 MiB is the baseline mlx-policy unset (32 MiB)"));
  EXPECT_THAT(error_of({{}, "weir:0", "weir:0"}).message, HasSubstr("nothing to compare"));
}

TEST(ChosenArms, BadArmsNameFlagTextAndAnExample) {
  const std::pair<const char*, const char*> bad[] = {
      {"", "empty"},           {"weir,", "empty"},  {"wier:0", "wier"},
      {"64MiB", "64MiB"},      {"WEIR", "WEIR"},    {"weir:", "an empty size"},
      {"weir:8 G B", "8 G B"}, {"weir:0:0", "0:0"}, {"weir:auto", "auto"}};
  for (const auto& [text, says] : bad) {
    const Error error = error_of({{}, text, {}});
    EXPECT_EQ(error.kind, ErrorKind::kUsage) << text;
    EXPECT_EQ(error.where, "--arms") << text;
    EXPECT_THAT(error.message, HasSubstr(says)) << text;
    EXPECT_THAT(error.message, HasSubstr("such as")) << text;
  }
  EXPECT_EQ(error_of({{}, "weir", "wier:0"}).where, "--baseline");
}

}  // namespace
}  // namespace weir::price
