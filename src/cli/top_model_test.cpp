#include "cli/top_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/top_fixture.h"
#include "cli/top_why.h"

namespace weir::cli {
namespace {

std::vector<pid_t> pids(const TopModel& model) {
  std::vector<pid_t> out;
  for (const WatchedProcess& process : model.processes())
    out.push_back(process.now.page.pid);
  return out;
}

WatchedProcess watched(const ledger::GovernedProcess& process) {
  TopHistory history;
  history.add({process}, std::chrono::seconds(1));
  return history.processes().front();
}

TEST(TopHistory, KnowsNoRateAtTheFirstLook) {
  const auto processes = watched_processes(1);
  EXPECT_FALSE(processes[0].allocations_per_second);
  EXPECT_FALSE(processes[0].faults_per_second);
  EXPECT_FALSE(processes[0].window);
}

TEST(TopHistory, CountsRatesBetweenTwoLooks) {
  const auto processes = watched_processes(5);
  EXPECT_DOUBLE_EQ(*processes[0].allocations_per_second, 12'000);
  EXPECT_DOUBLE_EQ(*processes[0].faults_per_second, 130);
  EXPECT_DOUBLE_EQ(*processes[2].tokens_per_second, 29);
  EXPECT_FALSE(processes[0].tokens_per_second) << "it marks no tokens";
  EXPECT_FALSE(processes[3].allocations_per_second) << "nobody counts there";
  EXPECT_EQ(processes[0].window->misses, 400u);
  EXPECT_DOUBLE_EQ(processes[0].window->seconds, 4);
}

TEST(TopHistory, RemembersNoMoreThanItsRoom) {
  EXPECT_EQ(watched_processes(static_cast<int>(kTopMemory) + 50)[0].footprints.size(), kTopMemory);
}

TEST(TopHistory, StartsAnewForAnotherProcessOfTheSameNumber) {
  TopHistory history;
  ledger::GovernedProcess process = made_up_process(7, "one", 1'000, 0);
  history.add({process}, std::chrono::seconds(1));
  process.page.start_ticks += 1;
  process.page.allocations += 1'000'000;
  history.add({process}, std::chrono::seconds(2));
  EXPECT_FALSE(history.processes()[0].allocations_per_second);
  process.page.started_ns += 1;  // another program after an exec
  history.add({process}, std::chrono::seconds(3));
  EXPECT_FALSE(history.processes()[0].allocations_per_second);
}

TEST(TopHistory, ForgetsWhoIsGone) {
  TopHistory history;
  const ledger::GovernedProcess process = made_up_process(7, "one", 1'000, 0);
  history.add({process}, std::chrono::seconds(1));
  history.add({}, std::chrono::seconds(2));
  EXPECT_TRUE(history.processes().empty());
  history.add({process}, std::chrono::seconds(3));
  EXPECT_EQ(history.processes()[0].footprints.size(), 1u);
}

TEST(TopHistory, ShowsNoRateWhereTheClockStandsStill) {
  TopHistory history;
  history.add(made_up_processes(), std::chrono::seconds(1));
  history.add(made_up_processes(), std::chrono::seconds(1));
  EXPECT_FALSE(history.processes()[0].faults_per_second);
}

TEST(TopModel, PutsTheLargestFirstAndSortsOnAKey) {
  TopModel model;
  model.show(watched_processes(3));
  EXPECT_EQ(pids(model), (std::vector<pid_t>{26219, 31007, 26244, 41999}));
  for (int i = 0; i < 5; ++i)
    ASSERT_TRUE(model.press(TopKey::kSort));
  EXPECT_EQ(model.sort(), TopSort::kRun);
  EXPECT_EQ(pids(model), (std::vector<pid_t>{41999, 26219, 26244, 31007}));
  ASSERT_TRUE(model.press(TopKey::kSort));
  EXPECT_EQ(model.sort(), TopSort::kFootprint);
}

TEST(TopModel, KeepsTheSelectedProcessWhereverItStands) {
  TopModel model;
  auto processes = watched_processes(3);
  model.show(processes);
  ASSERT_TRUE(model.press(TopKey::kDown));
  ASSERT_EQ(model.selected_process()->now.page.pid, 31007);
  processes[2].now.layers.footprint = 9'000'000'000;
  model.show(processes);
  EXPECT_EQ(model.selected(), 0u);
  EXPECT_EQ(model.selected_process()->now.page.pid, 31007);
}

TEST(TopModel, SelectsANeighbourWhenTheSelectedOneIsGone) {
  TopModel model;
  auto processes = watched_processes(3);
  model.show(processes);
  ASSERT_TRUE(model.press(TopKey::kEnd));
  ASSERT_EQ(model.selected_process()->now.page.pid, 41999);
  processes.pop_back();
  model.show(processes);
  EXPECT_EQ(model.selected_process()->now.page.pid, 26244);
  model.show({});
  EXPECT_EQ(model.selected_process(), nullptr);
  ASSERT_TRUE(model.press(TopKey::kUp));
}

TEST(TopModel, StopsAtBothEnds) {
  TopModel model;
  model.show(watched_processes(2));
  ASSERT_TRUE(model.press(TopKey::kUp));
  EXPECT_EQ(model.selected(), 0u);
  ASSERT_TRUE(model.press(TopKey::kPageDown));
  EXPECT_EQ(model.selected(), 3u);
  ASSERT_TRUE(model.press(TopKey::kHome));
  EXPECT_EQ(model.selected(), 0u);
}

TEST(TopModel, OpensAndClosesItsPanels) {
  TopModel model;
  model.show(watched_processes(2));
  ASSERT_TRUE(model.press(TopKey::kWhy));
  EXPECT_EQ(model.panel(), TopPanel::kWhy);
  ASSERT_TRUE(model.press(TopKey::kDown));
  EXPECT_EQ(model.scrolled(), 1u);
  EXPECT_EQ(model.selected(), 0u) << "keys scroll the panel";
  ASSERT_TRUE(model.press(TopKey::kHelp));
  EXPECT_EQ(model.panel(), TopPanel::kHelp);
  EXPECT_EQ(model.scrolled(), 0u);
  ASSERT_TRUE(model.press(TopKey::kBack));
  EXPECT_EQ(model.panel(), TopPanel::kDetails);
  EXPECT_FALSE(model.press(TopKey::kQuit));
}

TEST(WhyNotReused, FindsDeadSizes) {
  const WhyReport report = why_not_reused(watched_processes(5)[0]);
  ASSERT_EQ(report.rows.size(), 3u);
  EXPECT_FALSE(report.rows[1].dead);
  EXPECT_TRUE(report.rows[2].dead);
  EXPECT_EQ(report.dead_sizes, 1u);
  EXPECT_EQ(report.dead_retained, 700'000'000);
  EXPECT_EQ(report.rows[2].misses, 24'557u);
  EXPECT_THAT(report.sentence, ::testing::StartsWith("Dead sizes hold most of what is kept"));
}

TEST(WhyNotReused, CallsASizeDeadOnlyBeyondTheLastTenThousandAllocations) {
  ledger::GovernedProcess process = made_up_processes()[0];
  process.page.size_classes[26].last_allocation = process.page.allocations - kDeadAfter;
  EXPECT_EQ(why_not_reused(watched(process)).dead_sizes, 0u);
  process.page.size_classes[26].last_allocation -= 1;
  EXPECT_EQ(why_not_reused(watched(process)).dead_sizes, 1u);
}

TEST(WhyNotReused, CountsMissesPerTokenWhereTokensAreMarkedElsePerThousand) {
  const auto processes = watched_processes(5);
  const WhyReport server = why_not_reused(processes[0]);
  EXPECT_FALSE(server.per_token);
  EXPECT_NEAR(server.misses_per, 44'567 / 1'234.567, 1e-9);
  EXPECT_NEAR(*server.lately, 100 / 12.0, 1e-9);
  const WhyReport runner = why_not_reused(processes[2]);
  EXPECT_TRUE(runner.per_token);
  EXPECT_NEAR(runner.misses_per, 2'000 / 1'208.0, 1e-9);
}

TEST(WhyNotReused, NamesTheReason) {
  ledger::GovernedProcess process = made_up_processes()[2];
  process.page.hits = 45'000, process.page.misses = 45'000;
  const auto sentence = [&] { return why_not_reused(watched(process)).sentence; };
  EXPECT_THAT(sentence(), ::testing::HasSubstr("weir joins free blocks of any size"));
  process.page.cache_limit = 0;
  EXPECT_THAT(sentence(), ::testing::HasSubstr("The cache limit is 0"));
  process.page.cache_limit = 28'000'000;
  EXPECT_THAT(sentence(), ::testing::HasSubstr("The cache limit is reached"));
  process.page.hits = 89'500, process.page.misses = 500;
  EXPECT_THAT(sentence(), ::testing::HasSubstr("Nearly every request"));
  process.page.hits = process.page.misses = 0;
  EXPECT_THAT(sentence(), ::testing::HasSubstr("Nothing was asked for yet"));
  process.page.state = wire::PageState::kOff;
  EXPECT_THAT(sentence(), ::testing::HasSubstr("stays out"));
}

TEST(WhyNotReused, KnowsNoRetainedBytesBySizeWhereTheAllocatorTellsNone) {
  for (const wire::Allocator allocator : {wire::Allocator::kMlx, wire::Allocator::kWeir}) {
    ledger::GovernedProcess process = made_up_processes()[2];
    process.page.allocator = allocator;
    const WhyReport report = why_not_reused(watched(process));
    EXPECT_FALSE(report.dead_retained);
    EXPECT_FALSE(report.rows[0].retained);
    EXPECT_TRUE(report.rows[1].dead) << "nobody asks for it any more";
  }
}

}  // namespace
}  // namespace weir::cli
