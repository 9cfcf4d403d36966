#include "govern/pressure.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"

namespace weir::govern {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Pressure : public ::testing::Test {
 protected:
  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root() / file).parent_path());
    std::ofstream(root() / file) << text;
  }
  std::string read(const fs::path& file) {
    std::ifstream in(root() / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void make_v2() {
    write("proc/pressure/memory", "some avg10=0.00\n");
    write("proc/self/cgroup", "0::/app\n");
    write("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write("sys/fs/cgroup/app/memory.pressure", "some avg10=0.00\n");
    write("sys/fs/cgroup/app/memory.events", "low 0\nhigh 3\nmax 1\noom 0\noom_kill 0\n");
    write("sys/fs/cgroup/app/memory.current", "1\n");
  }
  /// As poll would answer for the source of this number.
  std::vector<pollfd> ready(const PressureSources& sources, std::size_t number, short revents) {
    std::vector<pollfd> descriptors;
    sources.add_descriptors(descriptors);
    descriptors.at(number).revents = revents;
    return descriptors;
  }
  [[nodiscard]] const fs::path& root() const { return folder_.path(); }

  ScratchFolder folder_;
};

TEST_F(Pressure, ListensToTheMachineAndToItsCgroup) {
  make_v2();
  const auto sources = PressureSources::open(root());
  EXPECT_THAT(sources.names(), ElementsAre(EndsWith("/proc/pressure/memory"),
                                           EndsWith("/app/memory.pressure"), EndsWith("/app/memory.events")));
  EXPECT_EQ(read("proc/pressure/memory"), std::string("some 150000 2000000\0", 20));
}

TEST_F(Pressure, EachSourceIsOptional) {
  EXPECT_THAT(PressureSources::open(root()).names(), IsEmpty());
  make_v2();
  fs::remove(root() / "proc/pressure/memory");
  fs::remove(root() / "sys/fs/cgroup/app/memory.pressure");
  EXPECT_THAT(PressureSources::open(root()).names(), ElementsAre(EndsWith("memory.events")));
  EXPECT_FALSE(PressureSources().take({{0, POLLIN, POLLIN}}));
}

TEST_F(Pressure, AStallIsPressure) {
  make_v2();
  auto sources = PressureSources::open(root());
  EXPECT_FALSE(sources.take(ready(sources, 0, 0)));
  EXPECT_TRUE(sources.take(ready(sources, 0, POLLPRI)));
  EXPECT_TRUE(sources.take(ready(sources, 1, POLLPRI)));
}

TEST_F(Pressure, EventsCountWhereHighOrMaxWasMetAgain) {
  make_v2();
  auto sources = PressureSources::open(root());
  constexpr short kNews = POLLPRI | POLLERR;  // as the kernel says it
  EXPECT_FALSE(sources.take(ready(sources, 2, kNews))) << "another line of the file";
  write("sys/fs/cgroup/app/memory.events", "low 0\nhigh 4\nmax 1\noom 0\noom_kill 0\n");
  EXPECT_TRUE(sources.take(ready(sources, 2, kNews)));
  EXPECT_FALSE(sources.take(ready(sources, 2, kNews)));
  write("sys/fs/cgroup/app/memory.events", "low 0\nhigh 4\nmax 2\noom 0\noom_kill 0\n");
  EXPECT_TRUE(sources.take(ready(sources, 2, kNews)));
}

TEST_F(Pressure, AVersionOneCgroupRingsAnEvent) {
  write("proc/self/cgroup", "4:memory:/app\n");
  write("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  write("sys/fs/cgroup/memory/app/memory.pressure_level", "");
  write("sys/fs/cgroup/memory/app/cgroup.event_control", "");
  write("sys/fs/cgroup/memory/app/memory.usage_in_bytes", "1\n");
  auto sources = PressureSources::open(root());
  ASSERT_THAT(sources.names(), ElementsAre(EndsWith("memory.pressure_level")));
  std::vector<pollfd> descriptors;
  sources.add_descriptors(descriptors);
  EXPECT_THAT(read("sys/fs/cgroup/memory/app/cgroup.event_control"), EndsWith(" medium"));
  EXPECT_EQ(::poll(descriptors.data(), 1, 0), 0);
  ASSERT_EQ(::eventfd_write(descriptors[0].fd, 2), 0);
  EXPECT_EQ(::poll(descriptors.data(), 1, 0), 1);
  EXPECT_TRUE(sources.take(descriptors));
  EXPECT_EQ(::poll(descriptors.data(), 1, 0), 0) << "taken";
}

TEST_F(Pressure, ADescriptorThatTheProgramTookOverIsGivenUpUnread) {
  make_v2();
  auto sources = PressureSources::open(root());
  std::vector<pollfd> descriptors;
  sources.add_descriptors(descriptors);
  const int number = descriptors[2].fd;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::dup2(ends[0], number), number);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_FALSE(sources.take(ready(sources, 2, POLLIN)));
  EXPECT_THAT(sources.names(), SizeIs(2));
  char byte = 0;
  EXPECT_EQ(::read(number, &byte, 1), 1) << "still open, and nothing was read";
  ::close(number);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Pressure, ASourceThatIsGoneDoesNotSpin) {
  make_v2();
  auto sources = PressureSources::open(root());
  EXPECT_FALSE(sources.take(ready(sources, 0, POLLERR)));
  EXPECT_FALSE(sources.take(ready(sources, 0, POLLNVAL)));
  EXPECT_THAT(sources.names(), SizeIs(1));
}

TEST(PressureHere, OpensWhatThisMachineHasAndHearsNothingAtRest) {
  auto sources = PressureSources::open();
  std::vector<pollfd> descriptors;
  sources.add_descriptors(descriptors);
  EXPECT_EQ(descriptors.size(), sources.names().size());
  (void)::poll(descriptors.data(), descriptors.size(), 0);
  for (const pollfd& one : descriptors)
    EXPECT_EQ(one.revents & (POLLNVAL | POLLHUP), 0);
}

}  // namespace
}  // namespace weir::govern
