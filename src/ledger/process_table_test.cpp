#include "ledger/process_table.h"

#include <unistd.h>
#include <cstring>

#include <gtest/gtest.h>

#include "ledger/governed_child.h"
#include "ledger/governed_page.h"
#include "wire/page_file.h"

namespace weir::ledger {
namespace {

/// A child that makes its page in the folder and touches some memory.
std::function<void()> governed(const PagesFolder& folder, std::uint64_t run, std::int64_t live) {
  return [&folder, run, live] {
    wire::CountersPage* page =
        wire::make_page(folder.path().c_str(), {.run = run, .allocator = wire::Allocator::kWeir}, nullptr);
    page->live.store(static_cast<std::uint64_t>(live));
    page->backed.store(static_cast<std::uint64_t>(live));
    page->state.store(static_cast<std::uint32_t>(wire::PageState::kGoverned));
  };
}

TEST(ProcessTable, ShowsWhoLivesByRunAndPid) {
  PagesFolder folder;
  const GovernedChild late(governed(folder, 900'002, 5'000));
  const GovernedChild one(governed(folder, 900'001, 3'000));
  const GovernedChild two(governed(folder, 900'001, 4'000));
  const auto processes = governed_processes(folder.path());
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0].page.pid, std::min(one.pid(), two.pid()));
  EXPECT_EQ(processes[2].page.pid, late.pid());
  EXPECT_EQ(processes[2].layers.live, 5'000);
  EXPECT_GT(*processes[0].layers.footprint, 0);
  EXPECT_GT(processes[0].faults, 0u);
  EXPECT_GE(processes[0].since_seconds, 0);
  EXPECT_NE(processes[0].command_line.find("weir_ledger_test"), std::string::npos);
}

TEST(ProcessTable, LeavesOutTheDeadAndZombies) {
  PagesFolder folder;
  GovernedChild zombie(governed(folder, 1, 1'000));
  zombie.kill();
  EXPECT_TRUE(governed_processes(folder.path()).empty());
  zombie.reap();
  EXPECT_TRUE(governed_processes(folder.path()).empty());
}

TEST(ProcessTable, LeavesOutANumberThatAnotherProcessHasNow) {
  PagesFolder folder;
  const GovernedChild other([] {});
  const std::string page = page_bytes([&](wire::CountersPage& made) {
    made.pid.store(static_cast<std::uint32_t>(other.pid()));
    made.start_ticks.store(1);
    made.run.store(7);
  });
  folder.put(page_file_name(7, other.pid()), page);
  EXPECT_TRUE(governed_processes(folder.path()).empty());
}

TEST(ProcessTable, ShowsTheLastProgramOfAProcessThatExeced) {
  PagesFolder folder;
  const GovernedChild child([&] {
    for (const std::uint64_t run : {1, 2}) {
      wire::CountersPage* page = wire::make_page(folder.path().c_str(), {.run = run}, nullptr);
      page->started_ns.store(1'000 * run);
    }
  });
  const auto processes = governed_processes(folder.path());
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].page.run, 2u);
}

TEST(ProcessTable, IsEmptyWithoutAFolder) {
  EXPECT_TRUE(governed_processes("/nonexistent/weir").empty());
}

TEST(ProcessTable, ReadsAgainAndForgetsWhoIsGone) {
  PagesFolder folder;
  ProcessTable table(folder.path());
  const GovernedChild stays(governed(folder, 1, 10));
  {
    const GovernedChild goes(governed(folder, 1, 20));
    EXPECT_EQ(table.read().size(), 2u);
  }
  const auto processes = table.read();
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0].page.pid, stays.pid());
  EXPECT_FALSE(processes[0].command_line.empty());
}

TEST(ParseFaults, SumsMinorAndMajorBehindAnyName) {
  EXPECT_EQ(parse_faults("12 (python3) S 1 2 3 4 5 6 700 8 90 10 11\n"), 790u);
  EXPECT_EQ(parse_faults("12 (a) S 1 (b) ) R 1 2 3 4 5 6 7 8 9 10"), 16u) << "the last bracket ends the name";
}

TEST(ParseFaults, RefusesWhatIsNoStat) {
  for (const char* text : {"", "12", "12 (x)", "12 (x) ", "12 (x) S 1 2 3", "12 (x) S 1 2 3 4 5 6 x 8 9",
                           "12 (x) S 1 2 3 4 5 6 7 8 ", "12 (x) S 1 2 3 4 5 6 -7 8 9"})
    EXPECT_FALSE(parse_faults(text)) << text;
}

TEST(ParseCommandLine, JoinsArgumentsIntoOneFitLine) {
  EXPECT_EQ(parse_command_line(std::string_view("python3\0-c\0print(1)\nprint(2)\0", 30)),
            "python3 -c print(1) print(2)");
  EXPECT_EQ(parse_command_line("\x1b[31mred"), "?[31mred");
  EXPECT_EQ(parse_command_line(""), "");
  EXPECT_EQ(parse_command_line(std::string(9'000, 'x')).size(), 4'096u);
}

TEST(LatestSample, FillsInWhatOnlyTheProcessKnowsAndKeepsTheSum) {
  Layers layers;
  layers.footprint = 1'000;
  layers.live = 500;
  layers.retained = 100;
  layers.identified = 10;
  PageReading page;
  EXPECT_FALSE(with_latest_sample(layers, page, 5'000'000'000).heap_idle);
  page.sample = SampleReading{2'000'000'000, 40, 200, 30, 190};
  const Layers with = with_latest_sample(layers, page, 5'000'000'000);
  EXPECT_EQ(with.heap_idle, 40);
  EXPECT_EQ(with.identified, 200);
  EXPECT_EQ(with.untouched, 30);
  EXPECT_EQ(with.unexplained, 1'000 - (500 + 100 - 30 + 40 + 200));
  EXPECT_DOUBLE_EQ(with.age_seconds, 3);
  page.sample->identified = std::nullopt;
  EXPECT_EQ(with_latest_sample(layers, page, 5'000'000'000).identified, 10);
}

}  // namespace
}  // namespace weir::ledger
