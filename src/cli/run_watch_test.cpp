#include "cli/run_watch.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "wire/counters_page.h"
#include "wire/process_stat.h"

namespace weir::cli {
namespace {

constexpr std::uint64_t kRun = 42;
constexpr std::uint32_t kNobody = 0x7ffffff0;  // above every pid

class RunWatchTest : public ::testing::Test {
 protected:
  /// The page of a process, as that process would leave it.
  void page(std::uint32_t pid, std::uint64_t started_ns, std::uint64_t live = 0,
            wire::PageState state = wire::PageState::kGoverned, std::uint64_t run = kRun) const {
    const auto page = std::make_unique<wire::CountersPage>();
    page->version = wire::kPageVersion;
    page->state = static_cast<std::uint32_t>(state);
    page->pid = pid;
    page->run = run;
    page->started_ns = started_ns;
    page->allocator = static_cast<std::uint32_t>(wire::Allocator::kWeir);
    page->live = live;
    page->backed = live;
    if (wire::ProcessStat stat; wire::read_process_stat(static_cast<pid_t>(pid), stat))
      page->start_ticks = stat.start_ticks;
    page->magic = wire::kPageMagic;
    std::string bytes(wire::kPageBytes, '\0');
    bytes.replace(0, sizeof *page, reinterpret_cast<const char*>(page.get()), sizeof *page);
    const auto file = folder_ / ledger::page_file_name(run, static_cast<pid_t>(pid));
    std::ofstream(file, std::ios::binary) << bytes;
    ::chmod(file.c_str(), 0600);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
  const std::uint32_t self_ = static_cast<std::uint32_t>(::getpid());
};

TEST_F(RunWatchTest, KeepsTheLastReadingOfEachProcessOfItsRun) {
  RunWatch watch(folder_, kRun, false);
  watch.sample();
  EXPECT_TRUE(watch.programs().empty());
  page(self_, 7, 1000);
  page(kNobody, 8, 5);
  page(kNobody, 8, 9, wire::PageState::kGoverned, kRun + 1);
  watch.sample();
  page(self_, 7, 3000);
  watch.sample();
  ASSERT_EQ(watch.programs().size(), 2u);
  EXPECT_EQ(watch.programs()[0].page.live, 3000);
  EXPECT_TRUE(watch.programs()[0].page.alive);
  EXPECT_FALSE(watch.programs()[1].page.alive);
  ASSERT_EQ(watch.peak().processes().size(), 1u) << "only the living have memory";
  EXPECT_GT(watch.peak().together().footprint.value_or(0), 0);
}

TEST_F(RunWatchTest, TellsTheProgramsOfOneProcessApart) {
  RunWatch watch(folder_, kRun, false);
  page(self_, 7, 1000);
  watch.sample();
  page(self_, 9, 50);
  watch.sample();
  ASSERT_EQ(watch.programs().size(), 2u);
  EXPECT_EQ(watch.programs()[0].page.live, 1000);
  EXPECT_EQ(watch.programs()[1].page.live, 50);
}

TEST_F(RunWatchTest, SettlesThatOnlyTheLastProgramOfALivingProcessLives) {
  RunWatch watch(folder_, kRun, false);
  page(self_, 7);
  watch.sample();
  page(self_, 9);
  watch.sample();
  watch.settle();
  EXPECT_FALSE(watch.programs()[0].page.alive);
  EXPECT_TRUE(watch.programs()[1].page.alive);
}

TEST_F(RunWatchTest, SettlesThatAProcessWhosePageIsGoneHasEnded) {
  RunWatch watch(folder_, kRun, false);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  page(static_cast<std::uint32_t>(child), 7);
  watch.sample();
  ASSERT_EQ(watch.programs().size(), 1u);
  EXPECT_TRUE(watch.programs()[0].page.alive);
  std::filesystem::remove(folder_ / ledger::page_file_name(kRun, child));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  watch.sample();
  watch.settle();
  EXPECT_FALSE(watch.programs()[0].page.alive);
}

TEST_F(RunWatchTest, RemembersThatWeirSwitchedItselfOff) {
  RunWatch watch(folder_, kRun, false);
  page(self_, 7, 0, wire::PageState::kOff);
  watch.sample();
  page(self_, 7, 0, wire::PageState::kExited);
  watch.sample();
  EXPECT_TRUE(watch.programs()[0].was_off);
}

TEST_F(RunWatchTest, PassesOverWhatAJoinedRunHadBefore) {
  page(self_, 7);
  RunWatch watch(folder_, kRun, true);
  watch.sample();
  EXPECT_TRUE(watch.programs().empty());
  page(self_, ~std::uint64_t{0} / 2);
  watch.sample();
  EXPECT_EQ(watch.programs().size(), 1u);
}

TEST_F(RunWatchTest, RemovesReadPagesOfTheDeadOnlyWhereThereAreManyOfItsOwn) {
  constexpr std::uint32_t kMany = 1'000;
  RunWatch watch(folder_, kRun, false);
  RunWatch joined(folder_, kRun, true);
  for (std::uint32_t i = 1; i < kMany; ++i)
    page(kNobody - i, ~std::uint64_t{0} / 2);
  watch.sample();
  EXPECT_EQ(files(), kMany - 1);
  page(self_, ~std::uint64_t{0} / 2);
  joined.sample();
  EXPECT_EQ(files(), kMany) << "another's pages";
  watch.sample();
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(watch.programs().size(), kMany);
}

TEST_F(RunWatchTest, DoesNothingWithoutAFolder) {
  RunWatch watch({}, kRun, false);
  watch.sample();
  EXPECT_TRUE(watch.programs().empty());
}

TEST_F(RunWatchTest, WaitsShortlyAtFirstAndNeverLessThanItCanAfford) {
  RunWatch watch(folder_, kRun, false);
  EXPECT_GE(watch.pause(), std::chrono::milliseconds(10));
  EXPECT_LE(watch.pause(), std::chrono::milliseconds(5'000));
}

}  // namespace
}  // namespace weir::cli
