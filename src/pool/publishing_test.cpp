#include <gtest/gtest.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <thread>
#include <vector>

#include "pool/hard_cap.h"
#include "pool/pool.h"
#include "pool/pool_subject.h"
#include "pool/thread_kind.h"

namespace weir::pool {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

struct ClassSums {
  std::uint64_t allocations = 0, hits = 0, retained = 0;
};

ClassSums sums_of(const wire::CountersPage& page) {
  ClassSums sums;
  for (const wire::SizeClass& each : page.size_classes) {
    sums.allocations += each.allocations.load(std::memory_order_relaxed);
    sums.hits += each.hits.load(std::memory_order_relaxed);
    sums.retained += each.retained.load(std::memory_order_relaxed);
  }
  return sums;
}

/// Allocates a block of each size and frees them.
void use_sizes(Pool& pool, std::initializer_list<std::uint64_t> sizes) {
  std::vector<void*> blocks;
  for (const std::uint64_t size : sizes)
    blocks.push_back(pool.allocate(size));
  for (void* const block : blocks)
    pool.free(block);
}

void expect_page_says(const wire::CountersPage& page, const Pool& pool) {
  const Counters now = pool.counters();
  EXPECT_EQ(page.sequence.load() % 2, 0u);
  EXPECT_EQ(page.live.load(), now.live);
  EXPECT_EQ(page.retained.load(), now.retained);
  EXPECT_EQ(page.padding.load(), now.padding);
  EXPECT_EQ(page.backed.load(), now.backed);
  EXPECT_EQ(page.overdraw.load(), now.overdraw);
  EXPECT_EQ(page.live_peak.load(), now.live_peak);
  EXPECT_EQ(page.retained_peak.load(), now.retained_peak);
  EXPECT_EQ(page.backed_peak.load(), now.backed_peak);
  EXPECT_EQ(page.overdraw_peak.load(), now.overdraw_peak);
  EXPECT_EQ(page.allocations.load(), now.allocations);
  EXPECT_EQ(page.frees.load(), now.frees);
  EXPECT_EQ(page.hits.load(), now.hits);
  EXPECT_EQ(page.misses.load(), now.misses);
  EXPECT_EQ(page.refusals.load(), now.refusals);
  EXPECT_EQ(page.overdraws.load(), now.overdraws);
  EXPECT_EQ(page.returned.load(), now.returned);
  EXPECT_EQ(page.moved.load(), now.moved);
  EXPECT_EQ(page.troubles.load(), now.troubles);
  EXPECT_EQ(page.cache_limit.load(), pool.cache_limit());
  EXPECT_EQ(page.memory_limit.load(), pool.memory_limit());
  const ClassSums sums = sums_of(page);
  EXPECT_EQ(sums.allocations, now.allocations);
  EXPECT_EQ(sums.hits, now.hits);
  EXPECT_EQ(sums.retained, now.kept);
}

TEST(Publishing, EveryEventIsOnThePage) {
  const auto pool = open_pool(Policy::kMlx);
  wire::CountersPage page{};
  pool->publish(&page);
  expect_page_says(page, *pool);
  void* const block = pool->allocate(3 * kMiB);
  expect_page_says(page, *pool);
  pool->free(block);
  expect_page_says(page, *pool);
  pool->set_cache_limit(kMiB);
  expect_page_says(page, *pool);
  pool->set_memory_limit(8 * kMiB);
  EXPECT_THROW((void)pool->allocate(9 * kMiB), OverLimit);
  expect_page_says(page, *pool);
  std::thread worker([&pool] {
    set_this_thread_kind(ThreadKind::kWorker);
    pool->free(pool->allocate(9 * kMiB));
  });
  worker.join();
  EXPECT_EQ(page.overdraws.load(), 1u);
  expect_page_says(page, *pool);
  pool->set_policy(Policy::kWeir);
  expect_page_says(page, *pool);
  pool->free(&page);
  pool->trim();
  pool->reset_peaks();
  expect_page_says(page, *pool);
}

TEST(Publishing, EventsOfSmallBlocksAreOnThePageWithTheirPeaks) {
  for (const Policy policy : {Policy::kMlx, Policy::kWeir}) {
    const auto pool = open_pool(policy);
    wire::CountersPage page{};
    pool->publish(&page);
    std::vector<void*> blocks;
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20 * (round + 1); ++i) {
        blocks.push_back(pool->allocate(1'000));
        expect_page_says(page, *pool);
      }
      for (void* const block : blocks) {
        pool->free(block);
        expect_page_says(page, *pool);
      }
      blocks.clear();
    }
    EXPECT_EQ(page.live_peak.load(), 60'000u);
    pool->publish(nullptr);
  }
}

TEST(Publishing, ARequestCountsInTheClassOfItsSize) {
  const auto pool = open_pool(Policy::kWeir);
  wire::CountersPage page{};
  pool->publish(&page);
  use_sizes(*pool, {1'000, 1'024, 3 * kMiB, 1'025, 0, 1'000});
  const auto& classes = page.size_classes;
  EXPECT_EQ(classes[10].allocations.load(), 3u);
  EXPECT_EQ(classes[10].last_allocation.load(), 6u);
  EXPECT_EQ(classes[10].hits.load(), 2u) << "the first one needed memory";
  EXPECT_EQ(classes[11].allocations.load(), 1u);
  EXPECT_EQ(classes[11].last_allocation.load(), 4u);
  EXPECT_EQ(classes[22].allocations.load(), 1u);
  EXPECT_EQ(classes[22].hits.load(), 0u);
  EXPECT_EQ(classes[22].last_allocation.load(), 3u);
  EXPECT_EQ(classes[0].allocations.load(), 1u);
  expect_page_says(page, *pool);
}

TEST(Publishing, WhatMlxsRuleKeepsStandsInTheClassOfItsCapacity) {
  const auto pool = open_pool(Policy::kMlx);
  wire::CountersPage page{};
  pool->publish(&page);
  const auto& classes = page.size_classes;
  use_sizes(*pool, {1'100, 3 * kMiB});
  EXPECT_EQ(classes[11].retained.load(), 1'100u);
  EXPECT_EQ(classes[22].retained.load(), 3 * kMiB);
  void* const block = pool->allocate(600);  // is given the kept 1,100
  EXPECT_EQ(classes[10].allocations.load(), 1u);
  EXPECT_EQ(classes[10].hits.load(), 1u);
  EXPECT_EQ(classes[11].retained.load(), 0u);
  pool->free(block);
  EXPECT_EQ(classes[11].retained.load(), 1'100u);
  pool->set_cache_limit(kMiB);
  expect_page_says(page, *pool);
  EXPECT_EQ(classes[22].retained.load(), 0u);
  pool->set_cache_limit(8 * kMiB);
  use_sizes(*pool, {3 * kMiB});
  pool->set_policy(Policy::kWeir);
  EXPECT_EQ(sums_of(page).retained, 0u);
  pool->check_laws();
}

TEST(Publishing, AnotherPageGoesOnWhereTheFormerStopped) {
  const auto pool = open_pool(Policy::kMlx);
  use_sizes(*pool, {1'000});
  wire::CountersPage first{}, second{};
  pool->publish(&first);
  expect_page_says(first, *pool);
  use_sizes(*pool, {1'000, 2'000});
  pool->publish(nullptr);
  use_sizes(*pool, {3'000});
  pool->publish(&second);
  expect_page_says(second, *pool);
  EXPECT_EQ(second.size_classes[10].allocations.load(), 2u);
  EXPECT_EQ(second.size_classes[12].last_allocation.load(), 4u);
  EXPECT_EQ(sums_of(first).allocations, 3u);
  pool->check_laws();
}

TEST(Publishing, ThePageNamesTheReservation) {
  const auto pool = open_pool(Policy::kWeir);
  wire::CountersPage page{};
  pool->publish(&page);
  const auto at = reinterpret_cast<std::uintptr_t>(pool->allocate(1));
  EXPECT_GE(at, page.pool_start.load());
  EXPECT_LT(at, page.pool_end.load());
}

TEST(Publishing, ThePageNamesNoReservationThatIsNotAll) {
  Options options;
  options.reserve_bytes = 64 * kMiB;
  const auto pool = value_or_throw(Pool::open(options));
  wire::CountersPage page{};
  pool->publish(&page);
  EXPECT_LT(page.pool_start.load(), page.pool_end.load());
  void* const block = pool->allocate(200 * kMiB);
  EXPECT_EQ(page.pool_start.load(), 0u);
  EXPECT_EQ(page.pool_end.load(), 0u);
  pool->free(block);
}

TEST(Publishing, StopsWhenToldTo) {
  const auto pool = open_pool(Policy::kWeir);
  wire::CountersPage page{};
  pool->publish(&page);
  pool->publish(nullptr);
  const std::uint64_t sequence = page.sequence.load();
  pool->free(pool->allocate(1));
  EXPECT_EQ(page.sequence.load(), sequence);
}

TEST(Publishing, AReaderNeverSeesHalfAnEvent) {
  const auto pool = open_pool(Policy::kWeir);
  wire::CountersPage page{};
  pool->publish(&page);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (std::uint64_t step = 0; !stop.load(std::memory_order_relaxed); ++step)
      pool->free(pool->allocate(step * 7919 % (3 * kMiB)));
  });
  int consistent = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t before = page.sequence.load(std::memory_order_acquire);
    const std::uint64_t live = page.live.load(std::memory_order_acquire);
    const std::uint64_t retained = page.retained.load(std::memory_order_acquire);
    const std::uint64_t padding = page.padding.load(std::memory_order_acquire);
    const std::uint64_t backed = page.backed.load(std::memory_order_acquire);
    const std::uint64_t allocations = page.allocations.load(std::memory_order_acquire);
    const std::uint64_t classed = sums_of(page).allocations;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 != 0 || page.sequence.load(std::memory_order_acquire) != before) continue;
    ++consistent;
    ASSERT_EQ(live + retained + padding, backed);
    ASSERT_EQ(classed, allocations);
  }
  stop = true;
  writer.join();
  EXPECT_GT(consistent, 0);
}

}  // namespace
}  // namespace weir::pool
