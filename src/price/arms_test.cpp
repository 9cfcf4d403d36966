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

TEST(ChosenArms, AnAllocatorThatThisBuildLacksIsTheEnvironmentsFault) {
  const Error error = error_of({{}, "mlx:0,weir:64MiB", {}});
  EXPECT_EQ(error.kind, ErrorKind::kEnvironment);
  EXPECT_THAT(error.message, HasSubstr("this build has no pool"));
  EXPECT_EQ(error_of({{}, "mlx-policy", {}}).kind, ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace weir::price
