#include "pool/thread_kind.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <cstdlib>
#include <thread>

#include "pool/stand_in_library.h"

namespace weir::pool {
namespace {

ThreadKind g_kind;

void ask() {
  g_kind = this_thread_kind();
}

/// Deeper than any fixed number of frames; not a tail call.
// NOLINTNEXTLINE(misc-no-recursion)
__attribute__((noinline)) int ask_from_depth(int depth) {
  if (depth == 0) {
    ask();
    return 0;
  }
  volatile int below = ask_from_depth(depth - 1);
  return below + 1;
}

TEST(ThreadKind, TheMainThreadIsACaller) {
  ask();
  EXPECT_EQ(g_kind, ThreadKind::kCaller);
}

TEST(ThreadKind, AThreadOfTheHostIsACaller) {
  std::thread thread(ask);
  thread.join();
  EXPECT_EQ(g_kind, ThreadKind::kCaller);
}

TEST(ThreadKind, AThreadStartedThroughTheCLibraryIsACaller) {
  pthread_t thread;
  ASSERT_EQ(::pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  ask();
                  return nullptr;
                },
                nullptr),
            0);
  ::pthread_join(thread, nullptr);
  EXPECT_EQ(g_kind, ThreadKind::kCaller);
}

TEST(ThreadKind, DepthDoesNotMatter) {
  std::thread thread([] { EXPECT_EQ(ask_from_depth(2'000), 2'000); });
  thread.join();
  EXPECT_EQ(g_kind, ThreadKind::kCaller);
}

TEST(ThreadKind, AThreadOfTheLibraryIsAWorkerAlsoInsideTheHostsCode) {
  run_on_library_thread([] { EXPECT_EQ(ask_from_depth(100), 100); });
  EXPECT_EQ(g_kind, ThreadKind::kWorker);
}

TEST(ThreadKind, IsRememberedByThreadAndCanBeFixed) {
  std::thread thread([] {
    set_this_thread_kind(ThreadKind::kWorker);
    ask();
  });
  thread.join();
  EXPECT_EQ(g_kind, ThreadKind::kWorker);
  ask();
  EXPECT_EQ(g_kind, ThreadKind::kCaller);
}

}  // namespace
}  // namespace weir::pool
