#include "ledger/machine_memory.h"

#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/cgroup.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::int64_t kKiB = 1024;

/// A made-up root folder, removed at the end.
class MachineMemoryTest : public ::testing::Test {
 protected:
  MachineMemoryTest() {
    std::string name = (fs::temp_directory_path() / "weir-machine-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    write("proc/meminfo", "MemTotal:       16000 kB\nMemFree:         100 kB\nMemAvailable:    8000 kB\n");
  }
  ~MachineMemoryTest() override { fs::remove_all(root_); }

  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void mount_v2(const std::string& mount_root = "/") {
    write("proc/self/mountinfo", "20 1 0:1 / /proc rw - proc proc rw\n30 25 0:26 " + mount_root +
                                     " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void mount_v1(const std::string& mount_root = "/") {
    write("proc/self/mountinfo",
          "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu rw - "
          "cgroup cgroup rw,cpu\n35 31 0:32 " +
              mount_root +
              " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
              "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  }
  void group(const std::string& folder, const std::string& limit, const std::string& usage, bool v2) {
    write(fs::path("sys/fs/cgroup") / folder / (v2 ? "memory.max" : "memory.limit_in_bytes"), limit + "\n");
    write(fs::path("sys/fs/cgroup") / folder / (v2 ? "memory.current" : "memory.usage_in_bytes"),
          usage + "\n");
  }
  MachineMemory read() { return value_or_throw(machine_memory(root_)); }

  fs::path root_;
};

TEST_F(MachineMemoryTest, WithoutACgroupFreeIsWhatIsAvailable) {
  const MachineMemory memory = read();
  EXPECT_EQ(memory.total_bytes, 16000 * kKiB);
  EXPECT_EQ(memory.available_bytes, 8000 * kKiB);
  EXPECT_EQ(memory.cgroup_limit_bytes, std::nullopt);
  EXPECT_EQ(memory.free_bytes(), 8000 * kKiB);
  EXPECT_THAT(memory.cgroup_source, HasSubstr("none"));
}

TEST_F(MachineMemoryTest, V2TakesTheSmallestLimitUpTheTree) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/b/c\n");
  group("a", "3000000", "1000000", true);
  group("a/b", "5000000", "900000", true);
  group("a/b/c", "max", "800000", true);
  const MachineMemory memory = read();
  EXPECT_EQ(memory.cgroup_limit_bytes, 3000000);
  EXPECT_EQ(memory.cgroup_usage_bytes, 1000000);
  EXPECT_EQ(memory.cgroup_source, "/sys/fs/cgroup/a/memory.max");
  EXPECT_EQ(memory.free_bytes(), 2000000);
}

TEST_F(MachineMemoryTest, HeadRoomIsTheTightestLevelsEvenWhereItsLimitIsLarger) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/b\n");
  group("a", "5000000", "4900000", true);
  group("a/b", "3000000", "100000", true);
  const MachineMemory memory = read();
  EXPECT_EQ(memory.cgroup_limit_bytes, 3000000);
  EXPECT_EQ(memory.free_bytes(), 100000);
}

TEST_F(MachineMemoryTest, InactiveFileCacheIsHeadRoom) {
  mount_v2();
  write("proc/self/cgroup", "0::/a\n");
  group("a", "3000000", "2900000", true);
  write("sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file 2000000\nactive_file 9\n");
  EXPECT_EQ(read().free_bytes(), 2100000);
}

TEST_F(MachineMemoryTest, UsageOverTheLimitLeavesNothing) {
  mount_v2();
  write("proc/self/cgroup", "0::/a\n");
  group("a", "100", "200", true);
  EXPECT_EQ(read().free_bytes(), 0);
}

TEST_F(MachineMemoryTest, V2MaxIsNoLimit) {
  mount_v2();
  write("proc/self/cgroup", "0::/a\n");
  group("a", "max", "200", true);
  EXPECT_EQ(read().cgroup_limit_bytes, std::nullopt);
  EXPECT_EQ(read().cgroup_source, "cgroup v2: no limit");
}

TEST_F(MachineMemoryTest, V1WinsWhereItHasTheMemoryController) {
  mount_v1();
  write("proc/self/cgroup", "4:memory:/box/one\n3:cpu,cpuacct:/\n0::/\n");
  group("memory", "9223372036854771712", "7000000", false);
  group("memory/box", "9223372036854771712", "6000000", false);
  group("memory/box/one", "4000000", "1500000", false);
  const MachineMemory memory = read();
  EXPECT_EQ(memory.cgroup_limit_bytes, 4000000);
  EXPECT_EQ(memory.cgroup_usage_bytes, 1500000);
  EXPECT_EQ(memory.cgroup_source, "/sys/fs/cgroup/memory/box/one/memory.limit_in_bytes");
  EXPECT_EQ(memory.free_bytes(), 2500000);
}

TEST_F(MachineMemoryTest, V1HugeNumberIsNoLimit) {
  mount_v1();
  write("proc/self/cgroup", "4:memory:/\n");
  group("memory", "9223372036854771712", "7000000", false);
  EXPECT_EQ(read().cgroup_limit_bytes, std::nullopt);
}

TEST_F(MachineMemoryTest, AContainerSeesItsOwnGroupAtTheMountPoint) {
  mount_v1("/docker/x");
  write("proc/self/cgroup", "4:memory:/docker/x/inner\n");
  group("memory", "4000000", "1000000", false);
  group("memory/inner", "9223372036854771712", "5", false);
  EXPECT_EQ(read().cgroup_limit_bytes, 4000000);
  write("proc/self/cgroup", "4:memory:/somewhere/else\n");
  EXPECT_EQ(read().cgroup_limit_bytes, 4000000) << "outside of the mount: the nearest visible group";
}

TEST_F(MachineMemoryTest, V1TellsTheLimitOfAHiddenParent) {
  mount_v1("/docker/x");
  write("proc/self/cgroup", "4:memory:/docker/x\n");
  group("memory", "9223372036854771712", "1000000", false);
  write("sys/fs/cgroup/memory/memory.stat", "cache 5\nhierarchical_memory_limit 3000000\n");
  EXPECT_EQ(read().cgroup_limit_bytes, 3000000);
  EXPECT_EQ(read().free_bytes(), 2000000);
}

TEST_F(MachineMemoryTest, HostileLimitsAreNoLimits) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/../../..\n::\n0::relative\nnonsense\n");
  for (const char* text : {"", "-1", "99999999999999999999999", "12x", "\n\n"}) {
    group("a", text, "5", true);
    group("", text, "5", true);
    EXPECT_EQ(read().cgroup_limit_bytes, std::nullopt) << text;
  }
}

TEST_F(MachineMemoryTest, NamesTheMissingLine) {
  write("proc/meminfo", "MemTotal: 5 kB\n");
  const auto memory = machine_memory(root_);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(memory.error().message, HasSubstr("MemAvailable"));
}

TEST(CgroupMounts, ResolveOctalEscapes) {
  const auto mounts =
      parse_cgroup_mounts("30 25 0:26 / /with\\040space\\134x rw - cgroup2 c rw\nshort\n\n - \n");
  ASSERT_EQ(mounts.size(), 1u);
  EXPECT_EQ(mounts[0].point, "/with space\\x");
}

TEST(MachineMemory, FreeFollowsLimitAndUsageWhereNoHeadRoomIsKnown) {
  MachineMemory memory;
  memory.available_bytes = 1000;
  memory.cgroup_limit_bytes = 800;
  EXPECT_EQ(memory.free_bytes(), 800);
  memory.cgroup_usage_bytes = 300;
  EXPECT_EQ(memory.free_bytes(), 500);
}

TEST(MachineMemory, ReadsThisMachine) {
  const auto memory = machine_memory();
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->free_bytes(), 0);
  EXPECT_LE(memory->free_bytes(), memory->total_bytes);
  EXPECT_FALSE(memory->cgroup_source.empty());
}

}  // namespace
}  // namespace weir::ledger
