#include "ledger/governed_peak.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/governed_layers.h"

namespace weir::ledger {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kError = 2;

GovernedSample sample(pid_t pid, std::int64_t anonymous, std::int64_t high_water, std::int64_t file = 10) {
  PageReading page;
  page.allocator = wire::Allocator::kWeir;
  page.state = wire::PageState::kGoverned;
  page.live = anonymous / 2;
  page.padding = 1;
  const ProcStatus status{
      .anonymous = anonymous, .file = file, .shared = 0, .swap = 0, .high_water = high_water};
  return {pid, 1, compute_governed_layers(page, status), status};
}

void expect_sums(const Layers& layers) {
  EXPECT_EQ(*layers.footprint, explained_bytes(layers) + *layers.unexplained);
  EXPECT_EQ(*layers.footprint + *layers.file, *layers.resident + *layers.swap);
}

TEST(AddLayers, SumsHoldAndPartsOfOneNameAreJoined) {
  Layers left = sample(1, 100, 0).layers;
  Layers right = sample(2, 50, 0).layers;
  left.untouched = 5;
  left.unexplained = *left.unexplained + 5;
  right.identified_parts.push_back({"main stack", 3});
  right.identified = *right.identified + 3;
  right.unexplained = *right.unexplained - 3;
  right.age_seconds = 2;
  const Layers sum = add_layers(left, right);
  EXPECT_EQ(sum.footprint, 150);
  EXPECT_EQ(sum.live, 75);
  EXPECT_EQ(sum.untouched, 5);
  EXPECT_EQ(sum.heap_idle, std::nullopt) << "known nowhere";
  EXPECT_EQ(sum.tags.at("other"), 75);
  EXPECT_EQ(sum.age_seconds, 2);
  ASSERT_EQ(sum.identified_parts.size(), 2u);
  EXPECT_EQ(sum.identified_parts[0].bytes, 2);
  EXPECT_EQ(sum.identified, 5);
  expect_sums(sum);
}

TEST(GovernedPeak, WithoutSamplesThereIsNone) {
  GovernedPeak peak(kError);
  peak.add({});
  EXPECT_TRUE(peak.processes().empty());
  EXPECT_EQ(peak.together().footprint, std::nullopt);
  EXPECT_EQ(peak.footprint().high_bytes, 0);
  EXPECT_EQ(peak.footprint().low_bytes, 0);
}

TEST(GovernedPeak, KeepsTheLayersOfTheLargestFootprint) {
  GovernedPeak peak(kError);
  peak.add({sample(1, 100, 120)});
  peak.add({sample(1, 300, 330)});
  peak.add({sample(1, 200, 360)});
  ASSERT_EQ(peak.processes().size(), 1u);
  const ProcessPeak one = peak.processes()[0];
  EXPECT_EQ(one.at_peak.footprint, 300);
  EXPECT_EQ(one.at_peak.live, 150);
  EXPECT_EQ(one.high_water_bytes, 360);
  EXPECT_EQ(one.footprint.high_bytes, 360 - 10 + kError);
  EXPECT_EQ(one.footprint.low_bytes, 300 - kError);
  EXPECT_EQ(peak.footprint().high_bytes, one.footprint.high_bytes);
  EXPECT_EQ(peak.footprint().low_bytes, one.footprint.low_bytes);
  EXPECT_EQ(peak.together().footprint, 300);
}

TEST(GovernedPeak, AmongNearlyEqualFootprintsTheOneWithMostLiveTells) {
  GovernedPeak peak(kError);
  GovernedSample ending = sample(1, 6410, 6500);
  ending.layers.retained = *ending.layers.retained + *ending.layers.live;
  ending.layers.live = 0;
  ending.layers.tags = {{"other", 0}};
  peak.add({sample(1, 6400, 6500)});
  peak.add({ending});
  EXPECT_EQ(peak.together().live, 3200) << "the process that ends holds the same bytes, freed";
  EXPECT_EQ(peak.footprint().low_bytes, 6410 - kError) << "the footprint is the largest all the same";
  for (int step = 1; step <= 8; ++step) {
    ending.layers.footprint = ending.status.anonymous = 6410 + 50 * step;
    peak.add({ending});
  }
  EXPECT_GE(*peak.together().footprint, 6810 - 6810 / 64) << "small steps do not leave it behind";
}

TEST(GovernedPeak, ThePeakOfTheSumIsNotTheSumOfThePeaks) {
  GovernedPeak peak(kError);
  peak.add({sample(1, 300, 310), sample(2, 50, 60)});
  peak.add({sample(1, 200, 310), sample(2, 200, 210)});
  peak.add({sample(1, 100, 310), sample(2, 250, 260)});
  EXPECT_EQ(peak.together().footprint, 400);
  EXPECT_EQ(peak.together().live, 200);
  expect_sums(peak.together());
  EXPECT_EQ(peak.processes()[0].at_peak.footprint, 300);
  EXPECT_EQ(peak.processes()[1].at_peak.footprint, 250);
  EXPECT_EQ(peak.footprint().low_bytes, 400 - 2 * kError);
  EXPECT_EQ(peak.footprint().high_bytes, (310 - 10 + kError) + (260 - 10 + kError));
  EXPECT_THAT(peak.footprint().source, HasSubstr("2 seen"));
}

TEST(GovernedPeak, ProcessesThatNeverMetAreNotSummed) {
  GovernedPeak peak(kError);
  for (pid_t pid = 1; pid <= 20; ++pid) {
    peak.add({sample(pid, 100, 110)});
    peak.add({});
  }
  EXPECT_EQ(peak.processes().size(), 20u);
  EXPECT_EQ(peak.together().footprint, 100);
  EXPECT_EQ(peak.footprint().high_bytes, 110 - 10 + kError);
}

TEST(GovernedPeak, OneThatCameBetweenTwoSamplesMayHaveMetOneThatLeft) {
  GovernedPeak peak(kError);
  peak.add({sample(1, 100, 110)});
  peak.add({sample(2, 100, 110)});
  EXPECT_EQ(peak.footprint().low_bytes, 100 - kError);
  EXPECT_EQ(peak.footprint().high_bytes, 2 * (110 - 10 + kError));
}

TEST(GovernedPeak, ANumberThatIsGivenAgainIsAnotherProcess) {
  GovernedPeak peak(kError);
  GovernedSample later = sample(1, 50, 60);
  later.start_ticks = 2;
  peak.add({sample(1, 100, 110)});
  peak.add({later});
  ASSERT_EQ(peak.processes().size(), 2u);
  EXPECT_EQ(peak.processes()[1].high_water_bytes, 60);
}

}  // namespace
}  // namespace weir::ledger
