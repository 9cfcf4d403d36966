#include "ledger/machine_settings.h"

#include <fstream>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLimits =
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max data size             2000000              unlimited            bytes     \n"
    "Max locked memory         8388608              8388608              bytes     \n"
    "Max address space         unlimited            unlimited            bytes     \n";

class MachineSettingsTest : public ::testing::Test {
 protected:
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  [[nodiscard]] MachineSettings read() const { return machine_settings(folder_.path()); }

  ScratchFolder folder_;
};

TEST_F(MachineSettingsTest, TakesWhatItFinds) {
  write("proc/self/limits", kLimits);
  write("proc/self/status", "Name:\tx\nTHP_enabled:\t1\n");
  write("proc/meminfo",
        "MemTotal: 9 kB\nSwapTotal:  4000 kB\nSwapFree: 1000 kB\nCommitLimit: 50 kB\nCommitted_AS: 20 kB\n");
  write("proc/swaps",
        "Filename\t\t\tType\t\tSize\tUsed\tPriority\n/dev/zram0   partition\t3000\t0\t100\n/swap "
        "file\t1000\t0\t-2\n");
  write("proc/sys/vm/swappiness", "60\n");
  write("proc/sys/vm/max_map_count", "65530\n");
  write("proc/sys/vm/overcommit_memory", "2\n");
  write("proc/pressure/memory", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
  write("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  write("sys/kernel/mm/transparent_hugepage/defrag", "always defer defer+madvise [madvise] never\n");
  write("sys/kernel/mm/transparent_hugepage/khugepaged/defrag", "1\n");
  write("sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none", "511\n");
  const MachineSettings settings = read();
  EXPECT_EQ(settings.limits.address_space, std::nullopt);
  EXPECT_EQ(settings.limits.data, 2000000);
  EXPECT_EQ(settings.limits.locked, 8388608);
  EXPECT_EQ(settings.huge_pages.enabled, "madvise");
  EXPECT_EQ(settings.huge_pages.defrag, "madvise");
  EXPECT_EQ(settings.huge_pages.khugepaged_defrag, 1);
  EXPECT_EQ(settings.huge_pages.largest_hole, 511);
  EXPECT_FALSE(settings.huge_pages.disabled_here);
  EXPECT_EQ(settings.swap.total, 4000 * 1024);
  EXPECT_EQ(settings.swap.used, 3000 * 1024);
  EXPECT_EQ(settings.swap.compressed, 3000 * 1024);
  EXPECT_EQ(settings.swap.swappiness, 60);
  EXPECT_EQ(settings.max_map_count, 65530);
  EXPECT_EQ(settings.overcommit, 2);
  EXPECT_EQ(settings.commit_limit, 50 * 1024);
  EXPECT_EQ(settings.committed, 20 * 1024);
  EXPECT_TRUE(settings.pressure_told);
}

TEST_F(MachineSettingsTest, AnEmptyTreeTellsNothing) {
  const MachineSettings settings = read();
  EXPECT_EQ(settings.limits.data, std::nullopt);
  EXPECT_EQ(settings.huge_pages.enabled, "");
  EXPECT_EQ(settings.max_map_count, std::nullopt);
  EXPECT_EQ(settings.overcommit, std::nullopt);
  EXPECT_EQ(settings.commit_limit, std::nullopt);
  EXPECT_EQ(settings.swap.total, 0);
  EXPECT_FALSE(settings.pressure_told);
}

TEST_F(MachineSettingsTest, SeesThatThisProcessGetsNoHugePages) {
  write("proc/self/status", "Name:\tx\nTHP_enabled:\t0\n");
  EXPECT_TRUE(read().huge_pages.disabled_here);
}

TEST(ProcessLimits, SkipsWhatIsNoNumber) {
  const ProcessLimits limits = parse_process_limits(
      "Max address space\nMax data size             -5   -5  bytes\nMax locked memory         "
      "99999999999999999999\n");
  EXPECT_EQ(limits.address_space, std::nullopt);
  EXPECT_EQ(limits.data, std::nullopt);
  EXPECT_EQ(limits.locked, std::nullopt);
}

TEST(ChosenWord, NeedsBothBrackets) {
  EXPECT_EQ(chosen_word("always [never]"), "never");
  EXPECT_EQ(chosen_word("always never"), "");
  EXPECT_EQ(chosen_word("] [never"), "");
  EXPECT_EQ(chosen_word("[]"), "");
}

TEST(MachineSettings, ReadsThisMachine) {
  const MachineSettings settings = machine_settings();
  EXPECT_GT(settings.max_map_count.value_or(0), 0);
  EXPECT_TRUE(settings.overcommit.has_value());
  EXPECT_TRUE(settings.commit_limit.has_value());
}

}  // namespace
}  // namespace weir::ledger
