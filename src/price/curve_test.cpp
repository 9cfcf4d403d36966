#include "price/curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <cstdlib>
#include <filesystem>

#include "lab/experiment.h"
#include "price/curve_json.h"

namespace weir::price {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000;
constexpr std::int64_t kDay = 24 * 3600;

CurveEntry entry(const std::string& cell, const lab::ArmLimit& limit, const std::string& verdict,
                 std::int64_t age_days = 1) {
  CurveEntry made;
  made.cell = cell;
  made.arm = lab::arm_name(limit);
  made.cache_limit = limit;
  made.verdict = verdict;
  made.is_baseline = verdict == "BASELINE";
  made.footprint_peak_bytes = 990'000'000;
  made.decode_ratio = 1.002;
  made.decode_lower = 0.991;
  made.measured_at = kNow - age_days * kDay;
  made.seal = "7c1e09ab";
  return made;
}

const lab::ArmLimit kSmall = lab::ArmLimit::of(64 << 20);
const lab::ArmLimit kZero = lab::ArmLimit::of(0);

TEST(AutoAnswer, IsTheSmallestLimitThatShipsInEveryCell) {
  const std::vector<CurveEntry> curve{entry("churn", kZero, "SHIP"), entry("churn", kSmall, "SHIP"),
                                      entry("churn", lab::ArmLimit::unlimited(), "BASELINE"),
                                      entry("steady", kZero, "CLOSE"), entry("steady", kSmall, "SHIP")};
  const auto answer = auto_answer(curve, kNow);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->mode, limits::Mode::kBytes);
  EXPECT_EQ(answer->bytes, 64 << 20);
  EXPECT_THAT(answer->why, HasSubstr("2 cells"));
}

TEST(AutoAnswer, ZeroIsALimitLikeAnother) {
  const std::vector<CurveEntry> curve{entry("churn", kZero, "SHIP"), entry("churn", kSmall, "SHIP")};
  EXPECT_EQ(auto_answer(curve, kNow)->bytes, 0);
}

TEST(AutoAnswer, ThereIsNoneWithoutAFreshShip) {
  EXPECT_FALSE(auto_answer({}, kNow));
  const std::vector<CurveEntry> stale{entry("churn", kSmall, "SHIP", 91)};
  EXPECT_FALSE(auto_answer(stale, kNow));
  const std::vector<CurveEntry> open{entry("churn", kSmall, "INCONCLUSIVE")};
  EXPECT_FALSE(auto_answer(open, kNow));
}

TEST(AutoAnswer, ACellThatDidNotTryTheLimitSpeaksAgainstIt) {
  const std::vector<CurveEntry> curve{entry("churn", kSmall, "SHIP"), entry("steady", kZero, "SHIP")};
  EXPECT_FALSE(auto_answer(curve, kNow));
}

TEST(AutoAnswer, UnsetStaysUnset) {
  const std::vector<CurveEntry> curve{entry("churn", lab::ArmLimit::unset(), "SHIP"),
                                      entry("churn", kSmall, "SHIP")};
  const auto answer = auto_answer(curve, kNow);
  EXPECT_EQ(answer->mode, limits::Mode::kUnset);
  EXPECT_FALSE(answer->bytes);
}

TEST(CurvePayload, WhatIsNoneIsBadData) {
  store::CurvePoint point;
  for (const char* text : {"", "[]", "{}", "{\"is_baseline\":1}"}) {
    point.json = text;
    EXPECT_EQ(entry_from(point).error().kind, ErrorKind::kBadData) << text;
  }
}

TEST(CurveText, ShowsFigureBoundVerdictAgeAndCell) {
  const std::vector<CurveEntry> curve{entry("churn", kSmall, "SHIP"), entry("churn", kZero, "CLOSE", 100)};
  const std::string text = curve_text(curve, kNow, {});
  EXPECT_THAT(text, HasSubstr("990"));
  EXPECT_THAT(text, HasSubstr("+0.2 % (≥ −0.9 %)"));
  EXPECT_THAT(text, HasSubstr("24 h"));
  EXPECT_THAT(text, HasSubstr("100 days, too old to count"));
  EXPECT_EQ(curve_text({}, kNow, {}), "");
}

lab::ExperimentResult result_with(lab::Verdict verdict) {
  lab::ExperimentResult result;
  result.seal = std::string(64, 'c');
  result.baseline = "unlimited";
  result.complete = true;
  result.environment.model_sha256 = "model";
  result.environment.machine = "machine";
  result.environment.library = "mlx 0.32.4";
  lab::ArmResult baseline, arm;
  baseline.name = "unlimited";
  baseline.cache_limit = lab::ArmLimit::unlimited();
  baseline.is_baseline = true;
  arm.name = "64 MiB";
  arm.cache_limit = kSmall;
  arm.verdict = verdict;
  arm.change[lab::kDecode] = {1.002, 0.991, 1.01, 6, {}, {}, {}};
  arm.saved_bytes = lab::Saved{1'850'000'000, 1'840'000'000, {}, 3, {}, {}};
  result.cells.emplace_back();
  result.cells[0].name = "churn";
  result.cells[0].arms = {baseline, arm};
  return result;
}

TEST(StoredCurve, IsOfThisModelMachineAndLibraryOnly) {
  std::string folder = (std::filesystem::temp_directory_path() / "weir-curve.XXXXXX").string();
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  {
    auto store = store::Store::open(std::filesystem::path(folder) / "weir.db");
    ASSERT_TRUE(store) << describe(store.error());
    for (const store::CurvePoint& point : lab::curve_points(result_with(lab::Verdict::kShip), kNow))
      ASSERT_TRUE(store->put_curve_point(point));
    const auto curve = stored_curve(*store, {"model", "machine", "mlx 0.32.4"});
    ASSERT_TRUE(curve);
    ASSERT_EQ(curve->size(), 2u);
    EXPECT_EQ(curve->front().arm, "64 MiB");
    EXPECT_EQ(curve->front().cache_limit, kSmall);
    EXPECT_EQ(curve->front().decode_lower, 0.991);
    EXPECT_EQ(curve->front().saved_lower_bytes, 1'840'000'000);
    EXPECT_TRUE(curve->back().is_baseline);
    EXPECT_EQ(auto_answer(*curve, kNow)->bytes, 64 << 20);
    EXPECT_TRUE(stored_curve(*store, {"other", "machine", "mlx 0.32.4"})->empty());
    EXPECT_TRUE(stored_curve(*store, {"model", "machine", "mlx 0.32.5"})->empty());
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weir::price
