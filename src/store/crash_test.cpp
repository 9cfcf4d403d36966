#include <sched.h>
#include <sys/stat.h>
#include <chrono>
#include <csignal>
#include <random>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/owned_fd.h"
#include "store/scratch_folder.h"
#include "store/seal_lock.h"
#include "store/store.h"

namespace weir::store {
namespace {

using testing::HasSubstr;

constexpr const char* kSeal = "0123456789abcdef";

/// Opens the store, goes on behind the last stored block, reports each block after its put. Never returns.
[[noreturn]] void write_until_killed(const std::filesystem::path& path, int report) {
  Store store = value_or_throw(Store::open(path));
  auto lock = value_or_throw(SealLock::acquire(path.parent_path(), kSeal));
  value_or_throw(store.put_plan({kSeal, "q", "{}", "b", 1, PlanState::kOpen}));
  value_or_throw(store.put_start({kSeal, StartKind::kSpeed, 0, "running", 1, "{}"}));
  int next = static_cast<int>(value_or_throw(store.blocks(kSeal)).size());
  for (;; ++next) {
    value_or_throw(store.put_block({kSeal, StartKind::kSpeed, 0, next, next, std::string(3000, 'x')}));
    if (::write(report, &next, sizeof next) != sizeof next) ::_exit(1);
  }
}

TEST(Crash, KilledAtRandomMomentsLosesNoConfirmedBlockAndDoublesNone) {
  const ScratchFolder folder;
  const auto path = folder.path() / "weir.db";
  std::mt19937_64 random(1);
  int confirmed = -1;
  for (int round = 0; round < 20; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const OwnedFd reader(ends[0]);
    OwnedFd writer(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      try {
        write_until_killed(path, writer.get());
      } catch (const Failure& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        ::_exit(1);
      }
    }
    writer.reset();
    const auto next_report = [&] {
      int block = 0;
      if (::read(reader.get(), &block, sizeof block) != sizeof block) return false;
      EXPECT_EQ(block, confirmed + 1) << "a block was lost or written twice";
      confirmed = block;
      return true;
    };
    // Every second child is killed while it opens or begins, the others among their blocks.
    for (int wanted = round % 2 * 2; wanted > 0 && next_report(); --wanted) {
    }
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 25'000));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself";
    while (next_report()) {
    }
    const auto store = Store::open(path);
    ASSERT_TRUE(store) << describe(store.error());
    const auto blocks = value_or_throw(store->blocks(kSeal));
    // One more may be stored whose confirmation the kill cut off.
    EXPECT_GE(static_cast<int>(blocks.size()), confirmed + 1);
    EXPECT_LE(static_cast<int>(blocks.size()), confirmed + 2);
    std::set<int> indices;
    for (const auto& block : blocks) {
      EXPECT_EQ(block.json.size(), 3000U);
      indices.insert(block.block_index);
    }
    EXPECT_EQ(indices.size(), blocks.size());
    confirmed = static_cast<int>(blocks.size()) - 1;
  }
  EXPECT_GE(confirmed + 1, 20) << "too little was written to prove anything";
}

TEST(SealLockTest, RefusesASecondHolderByPidUntilReleased) {
  const ScratchFolder folder;
  {
    const auto lock = SealLock::acquire(folder.path(), kSeal);
    ASSERT_TRUE(lock) << describe(lock.error());
    const auto second = SealLock::acquire(folder.path(), kSeal);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(second.error().message, HasSubstr("is being run by pid " + std::to_string(::getpid())));
    EXPECT_TRUE(SealLock::acquire(folder.path(), "fedcba9876543210")) << "another plan is free";
    EXPECT_EQ(in_child([&] { return SealLock::acquire(folder.path(), kSeal) ? 1 : 0; }), 0);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "locks"));
  EXPECT_TRUE(SealLock::acquire(folder.path(), kSeal));
}

TEST(SealLockTest, IsReleasedWhenItsHolderIsKilled) {
  const ScratchFolder folder;
  EXPECT_EQ(in_child([&] {
              const auto lock = SealLock::acquire(folder.path(), kSeal);
              ::kill(::getpid(), SIGKILL);
              return 0;
            }),
            128 + SIGKILL);
  EXPECT_FALSE(std::filesystem::is_empty(folder.path() / "locks")) << "the file stays, the lock does not";
  EXPECT_TRUE(SealLock::acquire(folder.path(), kSeal));
}

TEST(SealLockTest, RefusesASealThatCouldNameAnotherFile) {
  const ScratchFolder folder;
  for (const char* seal : {"", "../x", "a/b", "seal"})
    EXPECT_EQ(SealLock::acquire(folder.path(), seal).error().kind, ErrorKind::kInternal);
}

TEST(SealLockTest, NeverHasTwoHoldersWhileManyComeAndGo) {
  const ScratchFolder folder;
  const auto marker = folder.path() / "held";
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (int held = 0; held < 50;) {
        const auto lock = SealLock::acquire(folder.path(), kSeal);
        if (!lock) {
          ::sched_yield();
          continue;
        }
        if (::mkdir(marker.c_str(), 0700) != 0) ::_exit(1);
        ::rmdir(marker.c_str());
        ++held;
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

}  // namespace
}  // namespace weir::store
