/// The control socket against clients that mean no good: over acts that are written down, and a real thread.

#include "govern/control_watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "govern/control_test_server.h"
#include "ledger/control_client.h"
#include "ledger/governed_page.h"
#include "wire/page_file.h"

namespace weir::govern {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using wire::ControlStatus;
using wire::Verb;

class ControlWatchTest : public ::testing::Test {
 protected:
  void SetUp() override { server_.start(); }
  void TearDown() override {
    server_.thread.end();
    server_.watch.end();
    server_.watch.leave();
  }

  [[nodiscard]] std::string socket() const {
    return folder_ + "/" + std::to_string(kRun) + "-" + std::to_string(::getpid()) + ".sock";
  }
  [[nodiscard]] wire::ControlRequest request(Verb verb) const {
    wire::ControlRequest made;
    made.verb = static_cast<std::uint16_t>(verb);
    made.pid = server_.page->pid;
    made.start_ticks = server_.page->start_ticks;
    return made;
  }
  /// The state of one's own page is what a client goes by.
  [[nodiscard]] ledger::ControlClient client() const {
    return value_or_throw(ledger::ControlClient::connect(folder_, ledger::read_pages(folder_, kRun).at(0)));
  }
  [[nodiscard]] bool answers() const {
    auto asked = client().ask(request(Verb::kResetPeak), std::chrono::seconds(5));
    return asked && asked->status == ControlStatus::kDone;
  }

  ScratchFolder scratch_;
  const std::string folder_ = scratch_.path().string();
  // Leaked: its thread never ends.
  Server& server_ = *new Server(folder_);
};

TEST_F(ControlWatchTest, TheSocketIsForThisUserAlone) {
  struct stat status {};
  ASSERT_EQ(::lstat(socket().c_str(), &status), 0);
  EXPECT_TRUE(S_ISSOCK(status.st_mode));
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(ControlWatchTest, EachVerbIsOneActWithItsEffect) {
  auto asks = client();
  server_.acts->aged = 100;
  server_.acts->heap = 7;
  const auto returned = asks.ask(request(Verb::kReturn), std::chrono::seconds(5));
  ASSERT_TRUE(returned) << describe(returned.error());
  EXPECT_EQ(returned->released, 100);
  EXPECT_EQ(returned->heap_released, 7);
  (void)asks.ask(request(Verb::kTrim), std::chrono::seconds(5));
  wire::ControlRequest set = request(Verb::kSet);
  set.flags = wire::kSetsCacheLimit | wire::kSetsMemoryLimit;
  set.cache_limit = 5;
  set.memory_limit = 6;
  (void)asks.ask(set, std::chrono::seconds(5));
  EXPECT_THAT(server_.acts->done, ElementsAre("give back", "trim", "set", "set"));
  EXPECT_EQ(server_.page->acts_done, 4u);
  EXPECT_EQ(server_.page->acts[0].kind, static_cast<std::uint32_t>(wire::ActKind::kReturn));
  EXPECT_EQ(server_.page->acts[0].released, 107u);
  EXPECT_EQ(server_.page->acts[2].argument, 6u) << "the memory limit first";
}

TEST_F(ControlWatchTest, ASampleIsReadOnTheGovernorsThreadAndLeftInThePage) {
  const auto sampled = client().ask(request(Verb::kSample), std::chrono::seconds(20));
  ASSERT_TRUE(sampled) << describe(sampled.error());
  ASSERT_TRUE(sampled->layers);
  EXPECT_GT(sampled->layers->footprint.value_or(0), 0);
  EXPECT_GT(server_.page->sampled_ns, 0u);
  EXPECT_EQ(server_.page->sampled_unexplained, *sampled->layers->unexplained);
  EXPECT_THAT(server_.acts->done, IsEmpty()) << "looking changes nothing";
  EXPECT_EQ(server_.page->acts_done, 0u);
}

TEST_F(ControlWatchTest, ANeedGoesToWhoeverAnswersIt) {
  const auto refused = client().ask(request(Verb::kNeed), std::chrono::seconds(5));
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, ControlStatus::kRefused);
}

TEST_F(ControlWatchTest, AnotherProcessIsRefused) {
  Raw raw(socket());
  wire::ControlRequest other = request(Verb::kTrim);
  ++other.start_ticks;
  ASSERT_TRUE(raw.send(&other, sizeof other));
  EXPECT_EQ(raw.reply()->status, static_cast<std::uint16_t>(ControlStatus::kRefused));
  other = request(Verb::kTrim);
  ++other.pid;
  ASSERT_TRUE(raw.send(&other, sizeof other));
  EXPECT_EQ(raw.reply()->status, static_cast<std::uint16_t>(ControlStatus::kRefused));
  EXPECT_THAT(server_.acts->done, IsEmpty());
}

TEST_F(ControlWatchTest, GarbageIsAnsweredOnceAndTheConnectionClosed) {
  const wire::ControlRequest good = request(Verb::kTrim);
  for (const std::size_t length : {std::size_t{1}, sizeof good - 1, sizeof good + 1, std::size_t{100'000}}) {
    Raw raw(socket());
    std::string bytes(length, 'x');
    std::memcpy(bytes.data(), &good, std::min(length, sizeof good));
    ASSERT_TRUE(raw.send(bytes.data(), bytes.size())) << length;
    const auto reply = raw.reply();
    ASSERT_TRUE(reply) << length;
    EXPECT_EQ(reply->status, static_cast<std::uint16_t>(ControlStatus::kBadRequest));
    EXPECT_TRUE(raw.ended());
  }
  EXPECT_THAT(server_.acts->done, IsEmpty());
  EXPECT_TRUE(answers());
}

TEST_F(ControlWatchTest, AGigabyteOfMessagesEndsAtTheFirst) {
  const std::string bytes(100'000, 'y');
  std::size_t sent = 0;
  for (int round = 0; round < 10'000; ++round) {
    Raw raw(socket());
    if (!raw.connected()) continue;
    while (raw.send(bytes.data(), bytes.size()))
      sent += bytes.size();
    if (sent > (std::size_t{1} << 30)) break;
  }
  EXPECT_GT(sent, std::size_t{1} << 30);
  EXPECT_TRUE(answers());
  const std::string whole(std::size_t{1} << 30, 'z');
  EXPECT_FALSE(Raw(socket()).send(whole.data(), whole.size())) << "the kernel takes no such message";
  EXPECT_TRUE(answers());
}

TEST_F(ControlWatchTest, AClientThatStopsReadingIsDropped) {
  Raw raw(socket());
  const wire::ControlRequest asks = request(Verb::kResetPeak);
  int sent = 0;
  // Answers pile up until the kernel's room for them is full.
  while (sent < 1'000'000 && raw.send(&asks, sizeof asks))
    ++sent;
  EXPECT_LT(sent, 1'000'000);
  EXPECT_TRUE(answers());
}

TEST_F(ControlWatchTest, TheSeventeenthIsTurnedAwayAndAPlaceIsFreeAgainLater) {
  std::vector<std::unique_ptr<Raw>> crowd;
  const wire::ControlRequest asks = request(Verb::kResetPeak);
  for (std::size_t i = 0; i < ControlWatch::kConnections; ++i) {
    crowd.push_back(std::make_unique<Raw>(socket()));
    ASSERT_TRUE(crowd.back()->send(&asks, sizeof asks));
    ASSERT_TRUE(crowd.back()->reply()) << i;
  }
  Raw late(socket());
  const auto told = late.reply();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->status, static_cast<std::uint16_t>(ControlStatus::kBusy));
  EXPECT_TRUE(late.ended());
  crowd.pop_back();
  bool free_again = false;
  for (int i = 0; i < 100 && !free_again; ++i) {
    Raw next(socket());
    (void)next.send(&asks, sizeof asks);
    const auto reply = next.reply();
    free_again = reply && reply->status == static_cast<std::uint16_t>(ControlStatus::kDone);
  }
  EXPECT_TRUE(free_again);
}

TEST_F(ControlWatchTest, AThousandAtTheDoorLeaveIt) {
  for (int i = 0; i < 1'000; ++i)
    const Raw visitor{socket()};
  EXPECT_TRUE(answers());
}

TEST_F(ControlWatchTest, AnotherUserIsTurnedAway) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const std::string path = socket();
  ::chmod(path.c_str(), 0666);
  ::chmod(folder_.c_str(), 0755);
  ::chmod(std::filesystem::path(folder_).parent_path().c_str(), 0755);
  const pid_t child = ::fork();
  if (child == 0) {
    // As a process of user 1234 in whose hands the socket fell.
    if (::setresuid(1234, 1234, 1234) != 0) ::_exit(2);
    Raw raw(path);
    if (!raw.connected()) ::_exit(3);
    const auto reply = raw.reply();
    ::_exit(reply && reply->status == static_cast<std::uint16_t>(ControlStatus::kRefused) && raw.ended() ? 0
                                                                                                         : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ::chmod(folder_.c_str(), 0700);
  EXPECT_TRUE(answers());
}

TEST_F(ControlWatchTest, ADescriptorThatTheProgramTookOverIsNeverTouched) {
  // The program closes all that it does not know, and gets the numbers again for a pipe of its own.
  struct stat listening {};
  int taken = -1;
  for (int fd = 3; fd < 1024 && taken < 0; ++fd) {
    int accepts = 0;
    socklen_t length = sizeof accepts;
    if (::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &length) == 0 && accepts == 1) taken = fd;
  }
  ASSERT_GE(taken, 0);
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  ASSERT_EQ(::write(pipes[1], "mine", 4), 4);
  ASSERT_EQ(::dup2(pipes[0], taken), taken);
  server_.thread.wake();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server_.thread.wake();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  char read[5] = {};
  EXPECT_EQ(::fstat(taken, &listening), 0) << "not closed";
  EXPECT_EQ(::read(taken, read, 4), 4);
  EXPECT_STREQ(read, "mine");
  server_.thread.lock_for_fork();
  EXPECT_FALSE(server_.watch.is_open());
  server_.thread.unlock_after_fork();
  ::close(taken);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST_F(ControlWatchTest, OnlyItsOwnFileGoesWithIt) {
  const std::string path = socket();
  server_.watch.end();
  EXPECT_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace weir::govern
