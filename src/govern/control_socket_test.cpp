/// The door itself: where the socket lies, what stands in its place, and what happens without descriptors.

#include "govern/control_watch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/scratch_folder.h"
#include "govern/control_test_server.h"
#include "ledger/control_client.h"
#include "ledger/governed_page.h"
#include "wire/page_file.h"

namespace weir::govern {
namespace {

using wire::Verb;

/// The watch alone, with a clock of the test's.
class ControlWatchAlone : public ::testing::Test {
 protected:
  ScratchFolder scratch_;
  const std::string folder_ = scratch_.path().string();
  Server server_{folder_};
  void TearDown() override {
    server_.watch.end();
    server_.watch.leave();
    wire::unmake_page(server_.page, folder_.c_str());
  }
  std::vector<pollfd> poll_now() {
    std::vector<pollfd> waits;
    server_.watch.add_descriptors(waits);
    ::poll(waits.data(), waits.size(), 0);
    return waits;
  }
  [[nodiscard]] std::string socket() const {
    return folder_ + "/" + std::to_string(kRun) + "-" + std::to_string(::getpid()) + ".sock";
  }
};

TEST_F(ControlWatchAlone, WhoSaysNothingForTenSecondsIsClosed) {
  ASSERT_EQ(server_.watch.open(folder_), nullptr);
  EXPECT_LT(server_.watch.patience_ms(governor_now_ms()), 0) << "nothing to wait for but the door";
  Raw raw(socket());
  server_.watch.wake(governor_now_ms(), poll_now());
  const std::uint64_t now = governor_now_ms();
  const int patience = server_.watch.patience_ms(now);
  EXPECT_GT(patience, 0);
  EXPECT_LE(patience, static_cast<int>(ControlWatch::kIdleMs));
  server_.watch.wake(now + ControlWatch::kIdleMs - 1'000, {});
  EXPECT_EQ(poll_now().size(), 2u);
  server_.watch.wake(now + ControlWatch::kIdleMs + 1, {});
  EXPECT_EQ(poll_now().size(), 1u);
  EXPECT_TRUE(raw.ended());
}

TEST_F(ControlWatchAlone, WhoCameAndWentHoldsNoPlaceAgainstTheNext) {
  ASSERT_EQ(server_.watch.open(folder_), nullptr);
  std::vector<std::unique_ptr<Raw>> crowd;
  for (std::size_t i = 0; i < ControlWatch::kConnections; ++i)
    crowd.push_back(std::make_unique<Raw>(socket()));
  const std::vector<pollfd> door = poll_now();
  ASSERT_EQ(door.size(), 1u);
  server_.watch.wake(governor_now_ms(), door);
  ASSERT_EQ(poll_now().size(), 1 + ControlWatch::kConnections);
  crowd.clear();
  Raw next(socket());
  server_.watch.wake(governor_now_ms(), door);
  const wire::ControlRequest nobody;
  ASSERT_TRUE(next.send(&nobody, sizeof nobody));
  server_.watch.wake(governor_now_ms(), poll_now());
  const auto reply = next.reply();
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, static_cast<std::uint16_t>(wire::ControlStatus::kBadRequest)) << "heard, not busy";
}

TEST_F(ControlWatchAlone, WithoutDescriptorsItIsDeafForASecondAndNotBusy) {
  ASSERT_EQ(server_.watch.open(folder_), nullptr);
  Raw raw(socket());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const auto ready = poll_now();
  const rlimit none{3, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  server_.watch.wake(governor_now_ms(), ready);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(poll_now().empty());
  const std::uint64_t now = governor_now_ms();
  EXPECT_GT(server_.watch.patience_ms(now), 0);
  server_.watch.wake(now + 1'001, {});
  EXPECT_EQ(poll_now().size(), 1u);
}

TEST_F(ControlWatchAlone, WithoutAPageOfItsOwnThereIsNoSocket) {
  wire::unmake_page(server_.page, folder_.c_str());
  EXPECT_EQ(server_.watch.open(folder_), nullptr);
  EXPECT_FALSE(server_.watch.is_open());
  EXPECT_EQ(server_.watch.open(""), nullptr);
  EXPECT_FALSE(server_.watch.is_open());
}

TEST_F(ControlWatchAlone, AStaleSocketIsReplacedAndADirectoryInItsPlaceIsAReason) {
  std::filesystem::create_directory(socket());
  EXPECT_NE(server_.watch.open(folder_), nullptr);
  EXPECT_FALSE(server_.watch.is_open());
  std::filesystem::remove(socket());
  { OwnedFd file(::open(socket().c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)); }
  EXPECT_EQ(server_.watch.open(folder_), nullptr);
  EXPECT_TRUE(server_.watch.is_open());
}

TEST_F(ControlWatchAlone, AnUmaskThatTakesEverythingLeavesTheSocketUsable) {
  const mode_t before = ::umask(0777);
  const char* const trouble = server_.watch.open(folder_);
  ::umask(before);
  EXPECT_EQ(trouble, nullptr);
  struct stat status {};
  ASSERT_EQ(::lstat(socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST(ControlSocketFolder, MayBeLongerThanAnAddress) {
  const ScratchFolder scratch;
  std::string folder = scratch.path().string();
  for (int i = 0; i < 6; ++i)
    folder += "/" + std::string(40, 'd');
  std::filesystem::create_directories(folder);
  ::chmod(folder.c_str(), 0700);
  auto* const server = new Server(folder);
  server->start();
  auto connected = ledger::ControlClient::connect(folder, ledger::read_pages(folder, kRun).at(0));
  ASSERT_TRUE(connected) << describe(connected.error());
  wire::ControlRequest trim;
  trim.verb = static_cast<std::uint16_t>(Verb::kTrim);
  EXPECT_TRUE(connected->ask(trim, std::chrono::seconds(5)));
  server->thread.end();
  server->watch.end();
  server->watch.leave();
}

}  // namespace
}  // namespace weir::govern
