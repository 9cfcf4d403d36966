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
  made.arm = lab::limit_name(limit);
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

TEST(AutoAnswer, AnotherAllocatorsCurveSaysNothing) {
  std::vector<CurveEntry> curve{entry("churn", kSmall, "SHIP"), entry("churn", kZero, "SHIP"),
                                entry("steady", kZero, "CLOSE")};
  curve[1].allocator = lab::Allocator::kWeir;
  curve[2].allocator = lab::Allocator::kWeir;
  EXPECT_EQ(auto_answer(curve, kNow)->bytes, 64 << 20);
  EXPECT_FALSE(auto_answer(curve, kNow, lab::Allocator::kWeir));  // steady closed it there
  curve.pop_back();
  EXPECT_EQ(auto_answer(curve, kNow, lab::Allocator::kWeir)->bytes, 0);
  EXPECT_FALSE(auto_answer(curve, kNow, lab::Allocator::kMlxPolicy));
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

class StoredCurve : public testing::Test {
 protected:
  StoredCurve() : folder_((std::filesystem::temp_directory_path() / "weir-curve.XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    store_.emplace(value_or_throw(store::Store::open(std::filesystem::path(folder_) / "weir.db")));
  }
  ~StoredCurve() override {
    store_.reset();
    std::filesystem::remove_all(folder_);
  }

  void put(const lab::ExperimentResult& result) {
    for (const store::CurvePoint& point : lab::curve_points(result, kNow))
      ASSERT_TRUE(store_->put_curve_point(point));
  }
  std::vector<CurveEntry> curve(const CurveKey& key = {"model", "machine", "mlx 0.32.4"}) {
    return value_or_throw(stored_curve(*store_, key));
  }

  std::string folder_;
  std::optional<store::Store> store_;
};

TEST_F(StoredCurve, IsOfThisModelMachineAndLibraryOnly) {
  put(result_with(lab::Verdict::kShip));
  const auto all = curve();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all.front().arm, "64 MiB");
  EXPECT_EQ(all.front().cache_limit, kSmall);
  EXPECT_EQ(all.front().decode_lower, 0.991);
  EXPECT_EQ(all.front().saved_lower_bytes, 1'840'000'000);
  EXPECT_TRUE(all.back().is_baseline);
  EXPECT_EQ(auto_answer(all, kNow)->bytes, 64 << 20);
  EXPECT_TRUE(curve({"other", "machine", "mlx 0.32.4"}).empty());
  EXPECT_TRUE(curve({"model", "machine", "mlx 0.32.5"}).empty());
}

TEST_F(StoredCurve, AllocatorsKeepTheirLimitsApart) {
  put(result_with(lab::Verdict::kShip));
  auto result = result_with(lab::Verdict::kClose);
  result.seal = std::string(64, 'd');
  result.baseline = "weir unlimited";
  for (lab::ArmResult& arm : result.cells[0].arms) {
    arm.allocator = lab::Allocator::kWeir;
    arm.name = lab::arm_name(arm.allocator, arm.cache_limit);
  }
  put(result);
  const auto all = curve();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].arm, "64 MiB");
  EXPECT_EQ(all[2].arm, "weir 64 MiB");
  EXPECT_EQ(all[2].allocator, lab::Allocator::kWeir);
  EXPECT_EQ(auto_answer(all, kNow)->bytes, 64 << 20);
  EXPECT_FALSE(auto_answer(all, kNow, lab::Allocator::kWeir));
  EXPECT_THAT(curve_text(all, kNow, {}), HasSubstr("weir 64 MiB"));
  EXPECT_THAT(curve_json(all, kNow), HasSubstr("\"allocator\": \"weir\""));
}

TEST_F(StoredCurve, APointFromBeforeThereWereAllocatorsIsOnMlx) {
  auto points = lab::curve_points(result_with(lab::Verdict::kShip), kNow);
  const std::string key = "\"allocator\":\"mlx\",";
  for (store::CurvePoint& point : points) {
    ASSERT_NE(point.json.find(key), std::string::npos);
    point.json.erase(point.json.find(key), key.size());
    ASSERT_TRUE(store_->put_curve_point(point));
  }
  EXPECT_EQ(auto_answer(curve(), kNow)->bytes, 64 << 20);
}

}  // namespace
}  // namespace weir::price
