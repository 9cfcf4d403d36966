#include "ledger/cgroup.h"

#include <unistd.h>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"

namespace weir::ledger {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kId(64, 'a');
const std::string kShort(12, 'a');

std::string label(const std::string& path) {
  return name_cgroup(path).label();
}

/// A made-up tree of a machine, removed at the end.
class CgroupTest : public ::testing::Test {
 protected:
  void write(const fs::path& path, const std::string& text) {
    fs::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << text;
  }
  void mount_v2(const std::string& mount_root = "/") {
    write("proc/self/mountinfo",
          "30 25 0:26 " + mount_root + " /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void mount_v1(const std::string& mount_root = "/") {
    write("proc/self/mountinfo",
          "35 31 0:32 " + mount_root + " /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  }
  [[nodiscard]] const fs::path& root() const { return folder_.path(); }

  ScratchFolder folder_;
};

TEST(CgroupName, KnowsDockerAndPodmanByTheirPaths) {
  EXPECT_EQ(label("/system.slice/docker-" + kId + ".scope"), "docker " + kShort);
  EXPECT_EQ(label("/docker/" + kId), "docker " + kShort);
  EXPECT_EQ(
      label("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + kId + ".scope/container"),
      "podman " + kShort);
  EXPECT_EQ(label("/libpod_parent/libpod-" + kId), "podman " + kShort);
  EXPECT_EQ(label("/system.slice/nerdctl-" + kId + ".scope"), "containerd " + kShort);
  EXPECT_EQ(label("/elsewhere/" + kId), "container " + kShort);
}

TEST(CgroupName, KnowsAPodWhateverRunsIt) {
  const std::string pod = "kubepods-burstable-pod12ab_34.slice";
  EXPECT_EQ(label("/kubepods.slice/kubepods-burstable.slice/" + pod + "/cri-containerd-" + kId + ".scope"),
            "kubernetes " + kShort);
  EXPECT_EQ(label("/kubepods/besteffort/pod12ab-34/" + kId + "/init.scope"), "kubernetes " + kShort);
  EXPECT_EQ(label("/kubepods.slice/kubepods-burstable.slice/" + pod), "kubernetes pod 12ab-34");
  EXPECT_EQ(label("/kubepods"), "kubernetes");
}

TEST(CgroupName, KnowsUnitsJobsAndLxc) {
  EXPECT_EQ(label("/system.slice/llm.service"), "systemd llm.service");
  EXPECT_EQ(label("/user.slice/user-1.slice/user@1.service/app.slice/run-7.scope"), "systemd run-7.scope");
  EXPECT_EQ(label("/system.slice/slurmstepd.scope/job_42/step_0/user/task_0"), "slurm job 42");
  EXPECT_EQ(label("/lxc.payload.box/x"), "lxc box");
  EXPECT_EQ(label("/lxc/box"), "lxc box");
  EXPECT_EQ(label("/docker/" + kId + "/system.slice/llm.service"), "systemd llm.service") << "the innermost";
}

TEST(CgroupName, IsThePathWhereNobodyIsKnown) {
  EXPECT_EQ(label("/box/one"), "/box/one");
  EXPECT_EQ(label("/docker/" + kId.substr(1)), "/docker/" + kId.substr(1)) << "63 digits are no id";
  EXPECT_EQ(label("/docker-" + kId + "g.scope"), "systemd docker-" + kId + "g.scope");
  EXPECT_EQ(label("/"), "");
  EXPECT_EQ(label(""), "");
  EXPECT_EQ(label("/a\x1b[31m"), "/a?[31m") << "fit for a terminal";
}

TEST_F(CgroupTest, TellsTheGroupOfAnotherProcess) {
  mount_v1();
  write("proc/77/cgroup", "4:memory:/box/one\n0::/\n");
  write("sys/fs/cgroup/memory/box/one/memory.limit_in_bytes", "4000000\n");
  write("sys/fs/cgroup/memory/box/one/memory.usage_in_bytes", "1000000\n");
  const CgroupName name = process_cgroup(77, root());
  EXPECT_EQ(name.path, "/box/one");
  EXPECT_FALSE(name.v2);
  EXPECT_FALSE(name.hidden);
  EXPECT_EQ(process_cgroup_memory(77, root()).limit_bytes, 4000000);
  EXPECT_EQ(process_cgroup(78, root()).path, "") << "gone";
  EXPECT_EQ(process_cgroup_memory(78, root()).limit_bytes, std::nullopt);
}

TEST_F(CgroupTest, TakesTheMountThatShowsTheGroup) {
  write("proc/self/mountinfo",
        "30 25 0:26 /other /mnt/other rw - cgroup2 cgroup2 rw\n"
        "31 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  write("proc/self/cgroup", "0::/mine\n");
  write("sys/fs/cgroup/mine/memory.max", "5000\n");
  write("mnt/other/memory.max", "100\n");
  EXPECT_EQ(own_cgroup_memory(root()).limit_bytes, 5000);
}

TEST_F(CgroupTest, HighIsABoundOfTheHeadRoomAndNoLimit) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/memory.high", "3000\n");
  write("sys/fs/cgroup/a/memory.max", "max\n");
  write("sys/fs/cgroup/a/memory.current", "2900\n");
  write("sys/fs/cgroup/a/b/memory.high", "max\n");
  write("sys/fs/cgroup/a/b/memory.max", "5000\n");
  write("sys/fs/cgroup/a/b/memory.current", "1000\n");
  const CgroupMemory memory = own_cgroup_memory(root());
  EXPECT_EQ(memory.limit_bytes, 5000);
  EXPECT_EQ(memory.high_bytes, 3000);
  EXPECT_EQ(memory.high_usage_bytes, 2900);
  EXPECT_EQ(memory.high_source, "/sys/fs/cgroup/a/memory.high");
  EXPECT_EQ(memory.headroom_bytes, 100) << "whoever passes high is slowed down";
}

TEST_F(CgroupTest, EventsAreThoseOfTheGroupThatBounds) {
  mount_v2();
  write("proc/self/cgroup", "0::/a/b\n");
  write("sys/fs/cgroup/a/memory.high", "3000\n");
  write("sys/fs/cgroup/a/memory.events", "low 0\nhigh 12\nmax 9\noom 9\noom_kill 9\n");
  write("sys/fs/cgroup/a/b/memory.max", "5000\n");
  write("sys/fs/cgroup/a/b/memory.events", "low 0\nhigh 0\nmax 4\noom 2\noom_kill 1\noom_group_kill 0\n");
  const CgroupEvents events = own_cgroup_memory(root()).events;
  EXPECT_EQ(events.high, 12);
  EXPECT_EQ(events.max, 4);
  EXPECT_EQ(events.oom_kill, 1);
}

TEST_F(CgroupTest, V1TellsItsEventsInOtherFiles) {
  mount_v1();
  write("proc/self/cgroup", "4:memory:/box\n");
  write("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4000\n");
  write("sys/fs/cgroup/memory/box/memory.failcnt", "7\n");
  write("sys/fs/cgroup/memory/box/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  const CgroupEvents events = own_cgroup_memory(root()).events;
  EXPECT_EQ(events.max, 7);
  EXPECT_EQ(events.oom_kill, 2);
  EXPECT_EQ(events.high, std::nullopt);
}

TEST_F(CgroupTest, ANamespaceThatHidesTheTopIsSeen) {
  mount_v2();
  write("proc/self/cgroup", "0::/\n");
  EXPECT_FALSE(process_cgroup(0, root()).hidden) << "the machine's top has no memory.max";
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_TRUE(process_cgroup(0, root()).hidden);
  write("proc/9/cgroup", "0::/../sibling\n");
  EXPECT_TRUE(process_cgroup(9, root()).hidden) << "beside what this namespace shows";
  EXPECT_EQ(process_cgroup_memory(9, root()).source, "cgroup v2: no limit");
}

TEST_F(CgroupTest, V1TopIsKnownByItsReleaseAgent) {
  mount_v1();
  write("proc/self/cgroup", "4:memory:/\n");
  write("sys/fs/cgroup/memory/cgroup.procs", "1\n");
  EXPECT_TRUE(process_cgroup(0, root()).hidden);
  write("sys/fs/cgroup/memory/release_agent", "\n");
  EXPECT_FALSE(process_cgroup(0, root()).hidden);
  mount_v1("/docker/x");
  EXPECT_TRUE(process_cgroup(0, root()).hidden);
}

TEST_F(CgroupTest, AHiddenContainerIsKnownByItsMarks) {
  mount_v2();
  write("proc/self/cgroup", "0::/\n");
  write("proc/9/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(process_cgroup(0, root()).manager, "");
  write("run/systemd/container", "systemd-nspawn\n");
  EXPECT_EQ(process_cgroup(0, root()).label(), "systemd-nspawn");
  write("run/.containerenv", "");
  EXPECT_EQ(process_cgroup(0, root()).manager, "podman");
  write(".dockerenv", "");
  EXPECT_EQ(process_cgroup(0, root()).manager, "docker");
  write("var/run/secrets/kubernetes.io/serviceaccount/token", "x");
  EXPECT_EQ(process_cgroup(0, root()).manager, "kubernetes");
  EXPECT_EQ(process_cgroup(9, root()).manager, "") << "the marks are about this process alone";
}

TEST(Cgroup, NamesThisProcess) {
  EXPECT_EQ(process_cgroup(0).path, process_cgroup(::getpid()).path);
}

TEST(CgroupEvents, SkipsWhatIsNoNumber) {
  const CgroupEvents events = parse_cgroup_events("high -1\nmax 99999999999999999999\noom_kill 3\nhigh\n");
  EXPECT_EQ(events.high, std::nullopt);
  EXPECT_EQ(events.max, std::nullopt);
  EXPECT_EQ(events.oom_kill, 3);
}

}  // namespace
}  // namespace weir::ledger
