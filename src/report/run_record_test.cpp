#include "report/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

lab::TurnRecord turn(int arm, bool second, double seconds) {
  lab::TurnRecord record;
  record.arm = arm;
  record.second = second;
  record.measured.push_back({"r", 100, 9, "length", "0", seconds, seconds});
  return record;
}

lab::Plan plan() {
  lab::Plan made;
  made.question.arms = {lab::make_arm(lab::ArmLimit::unlimited()), lab::make_arm(lab::ArmLimit::of(0))};
  made.question.baseline = "unlimited";
  made.sizes.starts = 2;
  made.sizes.blocks_per_start = 2;
  return made;
}

TEST(RunRecord, AStartsValueIsTheMeanLogRatioOverItsBlocks) {
  lab::Records records;
  records.blocks.push_back({0, 0, {turn(0, false, 1), turn(1, false, 2), turn(0, true, 1)}, 0});
  records.blocks.push_back({0, 1, {turn(1, false, 0.5), turn(0, false, 1), turn(0, true, 1)}, 0});
  const RunRecord record = run_record_of(plan(), records);
  ASSERT_EQ(record.speed.size(), 1u);
  EXPECT_THAT(record.speed[0].blocks[1], ElementsAre("0", "unlimited", "unlimited"));
  EXPECT_EQ(record.speed[0].status, "complete");
  EXPECT_NEAR(record.speed[0].ratio.at("0").at(lab::kDecode), 1.0, 1e-12);
}

TEST(RunRecord, ABlockOfStartsIsOneLineOfItsProcesses) {
  lab::Plan between = plan();
  between.question.arms[1] = lab::make_arm(lab::Allocator::kWeir, lab::ArmLimit::of(0));
  lab::Records records;
  records.blocks.push_back({0, 0, {turn(1, false, 0.5), turn(1, false, 0.5)}, 0});
  records.blocks.push_back({0, 1, {turn(0, true, 1), turn(0, true, 1)}, 0});
  records.blocks.push_back({0, 2, {turn(0, false, 1), turn(0, false, 1)}, 0});
  const RunRecord record = run_record_of(between, records);
  EXPECT_EQ(record.design, lab::Design::kBetween);
  ASSERT_EQ(record.speed.size(), 1u);
  EXPECT_THAT(record.speed[0].blocks, ElementsAre(ElementsAre("weir 0", "unlimited", "unlimited")));
  EXPECT_EQ(record.speed[0].status, "complete");
  EXPECT_NEAR(record.speed[0].ratio.at("weir 0").at(lab::kDecode), 2.0, 1e-12);
}

TEST(RunRecord, AStartThatWasCutShortSaysWhy) {
  lab::Records records;
  records.blocks.push_back({1, 0, {turn(0, false, 1), turn(1, false, 1), turn(0, true, 1)}, 0});
  records.failures.push_back({false, 1, {"the worker died"}});
  const RunRecord record = run_record_of(plan(), records);
  EXPECT_THAT(record.speed.at(0).status, HasSubstr("unfinished; cut short: the worker died"));
}

TEST(RunRecord, FootprintStartsNameTheirArm) {
  lab::Records records;
  lab::FootprintRecord footprint;
  footprint.index = 3;
  footprint.arm = 1;
  footprint.footprint_peak_high_bytes = 7;
  records.footprints.push_back(footprint);
  const RunRecord record = run_record_of(plan(), records);
  EXPECT_EQ(record.footprint.at(0).arm, "0");
  EXPECT_EQ(record.footprint.at(0).measured.footprint_peak_bytes, 7);
}

}  // namespace
}  // namespace weir::report
