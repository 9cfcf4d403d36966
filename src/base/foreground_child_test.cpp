#include "base/foreground_child.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/inherited_signals.h"
#include "base/scratch_folder.h"

namespace weir {
namespace {

using namespace std::chrono_literals;

class ForegroundChildTest : public testing::Test {
 protected:
  static ForegroundSpec shell(const std::string& script) {
    return {"/bin/sh", {"sh", "-c", script}, {"PATH=/usr/bin:/bin"}};
  }
  static ForegroundChild started(const std::string& script) {
    auto child = ForegroundChild::start(shell(script));
    if (!child) throw Failure(child.error());
    return std::move(*child);
  }
  /// Waits until the child has made this file.
  void await(const char* name) const {
    for (int i = 0; i < 1000 && !std::filesystem::exists(folder_ / name); ++i)
      ::usleep(10'000);
  }
  std::string text(const char* name) const { return read_text(folder_ / name).value_or(""); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

  ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path();
};

TEST_F(ForegroundChildTest, ReportsItsExitCodeOrItsSignal) {
  const auto exited = started("exit 7").wait(20s);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->code, 7);
  EXPECT_FALSE(exited->by_signal);
  const auto killed = started("kill -KILL $$").wait(20s);
  ASSERT_TRUE(killed);
  EXPECT_EQ(killed->code, 137);
  EXPECT_TRUE(killed->by_signal);
}

TEST_F(ForegroundChildTest, HasExactlyItsWordsAndEnvironment) {
  auto child = ForegroundChild::start(
      {"/bin/sh", {"odd name", "-c", "echo \"$0,$1\" >$OUT", "a b", ""}, {"OUT=" + path("out")}});
  ASSERT_TRUE(child);
  EXPECT_EQ(child->wait(20s)->code, 0);
  EXPECT_EQ(text("out"), "a b,\n");
}

TEST_F(ForegroundChildTest, StaysInItsStartersProcessGroup) {
  EXPECT_EQ(started("exec test $(ps -o pgid= -p $$) -eq " + std::to_string(::getpgrp())).wait(20s)->code, 0);
}

TEST_F(ForegroundChildTest, SaysThatAProgramCannotBeExecuted) {
  const auto child = ForegroundChild::start({"/no/such/program", {"x"}, {}});
  ASSERT_FALSE(child);
  EXPECT_EQ(child.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(child.error().where, "/no/such/program");
}

TEST_F(ForegroundChildTest, ComesBackWhenTheTimeIsOver) {
  auto child = started("exec sleep 100");
  EXPECT_EQ(child.wait(1ms), std::nullopt);
  ::kill(child.pid(), SIGKILL);
  EXPECT_EQ(child.wait(20s)->code, 137);
  EXPECT_EQ(child.wait(0ms)->code, 137) << "the answer stays";
}

TEST_F(ForegroundChildTest, PassesOnWhatAProcessSendsAndOutlivesIt) {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2}) {
    const std::string ready = "ready" + std::to_string(signal);
    auto child = started("trap 'exit " + std::to_string(signal) + "' HUP INT QUIT TERM USR1 USR2; : >" +
                         path(ready.c_str()) + "; while :; do sleep 0.01; done");
    await(ready.c_str());
    ::kill(::getpid(), signal);
    const auto exit = child.wait(20s);
    ASSERT_TRUE(exit) << signal;
    EXPECT_EQ(exit->code, signal);
  }
}

TEST_F(ForegroundChildTest, GivesBackTheHandlersThatItTook) {
  struct sigaction before {};
  ::sigaction(SIGTERM, nullptr, &before);
  (void)started("exit 0").wait(20s);
  struct sigaction after {};
  ::sigaction(SIGTERM, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);
}

/// SigIgn of a child's /proc/self/status, bit n - 1 for signal n.
TEST_F(ForegroundChildTest, HandsOnWhatWasIgnoredAndNothingElse) {
  const pid_t tester = ::fork();
  if (tester == 0) {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGINT, SIG_IGN);
    note_inherited_signals();
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGINT, SIG_DFL);
    ::signal(SIGUSR1, SIG_IGN);
    (void)started("grep SigIgn /proc/self/status >" + path("ignored")).wait(20s);
    ::_exit(0);
  }
  ::waitpid(tester, nullptr, 0);
  const std::string line = text("ignored");
  ASSERT_NE(line.find('\t'), std::string::npos);
  const auto mask = std::stoull(line.substr(line.find('\t')), nullptr, 16);
  EXPECT_TRUE(mask & (1ULL << (SIGPIPE - 1)));
  EXPECT_TRUE(mask & (1ULL << (SIGINT - 1)));
  EXPECT_FALSE(mask & (1ULL << (SIGUSR1 - 1)));
  EXPECT_FALSE(mask & (1ULL << (SIGTERM - 1)));
}

TEST_F(ForegroundChildTest, LeavesNoDescriptorOfOursOpen) {
  EXPECT_EQ(started("ls /proc/$$/fd >" + path("fds")).wait(20s)->code, 0);
  std::string mine;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    mine += entry.path().filename().string() + "\n";
  const std::string theirs = text("fds");
  const auto count = [](const std::string& t) { return std::count(t.begin(), t.end(), '\n'); };
  EXPECT_LE(count(theirs), count(mine)) << theirs;
}

TEST_F(ForegroundChildTest, LivesOnWhenItsStarterIsKilled) {
  const pid_t starter = ::fork();
  if (starter == 0) {
    auto child = started(": >" + path("up") + "; sleep 0.3; : >" + path("survived"));
    (void)child.wait(20s);
    ::_exit(0);
  }
  await("up");
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  await("survived");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "survived"));
}

}  // namespace
}  // namespace weir
