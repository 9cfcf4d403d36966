#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "pool/pool.h"
#include "pool/pool_subject.h"

namespace weir::pool {
namespace {

constexpr unsigned kMostSeconds = 20;  // a child that finds a lock taken hangs

/// Allocates and frees until told to stop.
void churn(Pool& pool, const std::atomic<bool>& stop, std::uint64_t seed) {
  void* blocks[32] = {};
  for (std::uint64_t step = seed; !stop.load(std::memory_order_relaxed); ++step) {
    void*& block = blocks[step * 7 % 32];
    pool.free(block);
    block = pool.allocate(step * 7919 % 300'000);
  }
  for (void* const block : blocks)
    pool.free(block);
}

/// What a child must be able to do with what it inherited.
int use(Pool& pool, void* inherited) {
  pool.check_laws();
  const Counters before = pool.counters();
  if (static_cast<unsigned char*>(inherited)[99'999] != 42) return 1;
  for (int i = 0; i < 100; ++i) {
    auto* const block = static_cast<char*>(pool.allocate(static_cast<std::uint64_t>(i) * 5'000));
    if (i > 0) block[i * 5'000 - 1] = 1;
    pool.free(block);
  }
  pool.free(inherited);
  pool.trim();
  pool.check_laws();
  return pool.counters().live + 100'000 == before.live ? 0 : 2;
}

TEST(Fork, ThreeHundredChildrenInTheMiddleOfAllocationsAreUsable) {
  const auto pool = open_pool(Policy::kWeir);
  const auto other = open_pool(Policy::kMlx);
  auto* const inherited = static_cast<unsigned char*>(pool->allocate(100'000));
  std::memset(inherited, 42, 100'000);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (std::uint64_t seed = 1; seed <= 3; ++seed)
    threads.emplace_back([&, seed] { churn(seed == 3 ? *other : *pool, stop, seed * 1'000); });
  int good = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kMostSeconds);
      void* const block = other->allocate(1'000);
      other->free(block);
      ::_exit(use(*pool, inherited));
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    good += status == 0 ? 1 : 0;
  }
  stop = true;
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(good, 300);
  pool->free(inherited);
  EXPECT_EQ(pool->counters().live, 0u);
  pool->check_laws();
  other->check_laws();
}

TEST(Fork, AChildDoesNotWriteItsParentsPage) {
  const auto pool = open_pool(Policy::kWeir);
  const auto page = std::make_unique<wire::CountersPage>();
  pool->publish(page.get());
  pool->free(pool->allocate(1'000));
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kMostSeconds);
    const std::uint64_t before = page->allocations.load();
    pool->free(pool->allocate(1'000));
    ::_exit(page->allocations.load() == before ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  pool->free(pool->allocate(1'000));
  EXPECT_EQ(page->allocations.load(), 2u);
  pool->publish(nullptr);
}

/// The counts of a page.
std::vector<std::uint64_t> counts_of(const wire::CountersPage& page) {
  return {page.allocations, page.frees,    page.hits,  page.misses,  page.refusals,
          page.overdraws,   page.returned, page.moved, page.troubles};
}

TEST(Fork, AChildsPageCountsFromTheForkOnAndHoldsWhatItInherited) {
  for (const Policy policy : {Policy::kMlx, Policy::kWeir}) {
    const auto pool = open_pool(policy);
    wire::CountersPage page{};
    pool->publish(&page);
    void* const inherited = pool->allocate(5'000'000);
    pool->free(pool->allocate(9'000'000));
    pool->free(&page);  // a trouble
    pool->trim();
    const std::uint64_t live = page.live.load();
    EXPECT_GT(page.live_peak.load(), live);
    EXPECT_EQ(page.troubles.load(), 1u);
    EXPECT_EQ(0, in_child([&] {
                wire::CountersPage own{};
                pool->publish(&own);
                if (counts_of(own) != std::vector<std::uint64_t>(9)) return 1;
                if (own.live != live || own.live_peak != live || own.backed_peak != own.backed) return 2;
                if (own.retained_peak != own.retained || own.overdraw_peak != own.overdraw) return 3;
                void* const more = pool->allocate(20'000'000);
                pool->free(inherited);
                pool->free(&own);
                if (own.allocations != 1 || own.frees != 1 || own.hits + own.misses != 1) return 4;
                if (own.troubles != 1 || own.live_peak != own.live + 5'000'000) return 5;
                pool->check_laws();
                return in_child([&] {
                  wire::CountersPage third{};
                  pool->publish(&third);
                  if (counts_of(third) != std::vector<std::uint64_t>(9)) return 6;
                  pool->free(more);
                  return third.frees == 1 && third.live == 0 ? 0 : 7;
                });
              }));
    EXPECT_EQ(page.allocations.load(), 2u);
    pool->publish(nullptr);
    pool->free(inherited);
  }
}

TEST(Fork, AChildOfAPoolWithoutAPageCountsItsClassesFromNothing) {
  const auto pool = open_pool(Policy::kMlx);
  pool->free(pool->allocate(5'000));
  EXPECT_EQ(0, in_child([&] {
              wire::CountersPage own{};
              pool->publish(&own);
              if (own.size_classes[13].allocations != 0 || own.size_classes[13].last_allocation != 0)
                return 1;
              if (own.size_classes[13].retained != 5'000) return 2;
              pool->check_laws();
              return 0;
            }));
}

TEST(Fork, AClosedPoolIsNoLongerWaitedFor) {
  open_pool(Policy::kWeir).reset();
  EXPECT_EQ(in_child([] { return 0; }), 0);
}

}  // namespace
}  // namespace weir::pool
