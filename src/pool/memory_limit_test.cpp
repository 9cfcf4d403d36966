#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "place/units.h"
#include "pool/hard_cap.h"
#include "pool/pool.h"
#include "pool/pool_subject.h"
#include "pool/thread_kind.h"

namespace weir::pool {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

class MemoryLimit : public ::testing::TestWithParam<Policy> {
 protected:
  std::unique_ptr<Pool> open(std::uint64_t limit) {
    Options options;
    options.policy = GetParam();
    options.memory_limit = limit;
    options.cache_limit = kUnlimited;
    return open_pool(options);
  }
  /// Allocates on a thread that MLX would have started.
  static void* on_worker(Pool& pool, std::uint64_t bytes) {
    void* block = nullptr;
    std::thread thread([&] {
      set_this_thread_kind(ThreadKind::kWorker);
      try {
        block = pool.allocate(bytes);
      } catch (const OverLimit&) {
        block = nullptr;
      }
    });
    thread.join();
    return block;
  }
};

TEST_P(MemoryLimit, GrantsUpToTheLimitAndNotOneGranuleMore) {
  const auto pool = open(8 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i)
    blocks.push_back(pool->allocate(2 * kMiB));
  EXPECT_EQ(pool->counters().backed, 8 * kMiB);
  EXPECT_THROW((void)pool->allocate(1), OverLimit);
  pool->free(blocks.back());
  blocks.back() = pool->allocate(2 * kMiB);
  EXPECT_NE(blocks.back(), nullptr);
  EXPECT_EQ(pool->counters().backed_peak, 8 * kMiB);
  pool->check_laws();
}

TEST_P(MemoryLimit, AByteLessIsAGranuleLess) {
  const auto pool = open(8 * kMiB - 1);
  for (int i = 0; i < 3; ++i)
    (void)pool->allocate(2 * kMiB);
  EXPECT_THROW((void)pool->allocate(2 * kMiB), OverLimit);
  EXPECT_LE(pool->counters().backed, 8 * kMiB - 1);
}

TEST_P(MemoryLimit, UsesWhatIsRetainedBeforeItRefuses) {
  const auto pool = open(64 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 30; ++i)
    blocks.push_back(pool->allocate(2 * kMiB));
  for (void* const block : blocks)
    pool->free(block);
  EXPECT_GE(pool->counters().retained, 56 * kMiB);
  void* const large = pool->allocate(60 * kMiB);
  EXPECT_LE(pool->counters().backed, 64 * kMiB);
  pool->free(large);
  pool->check_laws();
}

TEST_P(MemoryLimit, ARefusalSaysTheSum) {
  const auto pool = open(16 * kMiB);
  void* const block = pool->allocate(5 * kMiB);
  try {
    (void)pool->allocate(20 * kMiB);
    FAIL() << "granted";
  } catch (const OverLimit& error) {
    EXPECT_EQ(error.refusal().requested, 20 * kMiB);
    EXPECT_EQ(error.refusal().live, 5 * kMiB);
    EXPECT_EQ(error.refusal().retained, 0u);
    EXPECT_EQ(error.refusal().padding, kMiB);
    EXPECT_EQ(error.refusal().memory_limit, 16 * kMiB);
  }
  pool->free(block);
}

TEST_P(MemoryLimit, TwoHundredRefusalsChangeNothingElse) {
  const auto pool = open(16 * kMiB);
  void* const block = pool->allocate(9 * kMiB);
  const Counters before = pool->counters();
  for (int i = 0; i < 200; ++i)
    EXPECT_THROW((void)pool->allocate(8 * kMiB), OverLimit);
  Counters after = pool->counters();
  EXPECT_EQ(after.refusals, 200u);
  after.refusals = before.refusals;
  EXPECT_EQ(std::memcmp(&before, &after, sizeof before), 0);
  void* const smaller = pool->allocate(5 * kMiB);
  pool->free(smaller);
  pool->free(block);
  EXPECT_EQ(pool->counters().live, 0u);
  pool->check_laws();
}

TEST_P(MemoryLimit, AbsurdSizesAreRefusedCleanly) {
  const auto capped = open(16 * kMiB);
  const auto unlimited = open(kUnlimited);
  for (const std::uint64_t bytes :
       {~std::uint64_t{0}, std::uint64_t{1} << 63, (std::uint64_t{1} << 46) + 1}) {
    EXPECT_THROW((void)capped->allocate(bytes), OverLimit) << bytes;
    EXPECT_THROW((void)unlimited->allocate(bytes), OverLimit) << bytes;
  }
  capped->check_laws();
  unlimited->check_laws();
}

TEST_P(MemoryLimit, AWorkerOverdrawsAndTheNextCallerWaitsForRepayment) {
  const auto pool = open(8 * kMiB);
  void* const small = pool->allocate(64);  // another one of its size would need no further memory
  void* const caller_block = pool->allocate(4 * kMiB);
  void* const worker_block = on_worker(*pool, 7 * kMiB);
  ASSERT_NE(worker_block, nullptr);
  Counters now = pool->counters();
  EXPECT_EQ(now.overdraws, 1u);
  EXPECT_EQ(now.overdraw, now.backed - 8 * kMiB);
  EXPECT_EQ(now.overdraw, 4 * kMiB);
  EXPECT_THROW((void)pool->allocate(64), OverLimit);
  EXPECT_EQ(pool->counters().overdraws, 1u);
  pool->free(worker_block);
  now = pool->counters();
  EXPECT_EQ(now.overdraw, 0u);
  EXPECT_EQ(now.overdraw_peak, 4 * kMiB);
  EXPECT_LE(now.backed, 8 * kMiB);
  pool->free(pool->allocate(64));
  pool->free(caller_block);
  pool->free(small);
  pool->check_laws();
}

TEST_P(MemoryLimit, AWorkerWithinTheLimitIsNoOverdraw) {
  const auto pool = open(8 * kMiB);
  pool->free(on_worker(*pool, 6 * kMiB));
  EXPECT_EQ(pool->counters().overdraws, 0u);
}

TEST_P(MemoryLimit, LoweringBelowWhatIsLiveKeepsBlocksAndRefusesUntilRepaid) {
  const auto pool = open(kUnlimited);
  void* const one = pool->allocate(4 * kMiB);
  void* const two = pool->allocate(4 * kMiB);
  pool->free(pool->allocate(30 * kMiB));
  EXPECT_EQ(pool->set_memory_limit(6 * kMiB), kUnlimited);
  const Counters now = pool->counters();
  EXPECT_EQ(now.live, 8 * kMiB);
  EXPECT_EQ(now.retained, 0u);
  EXPECT_EQ(now.overdraw, 2 * kMiB);
  EXPECT_THROW((void)pool->allocate(1), OverLimit);
  pool->free(one);
  EXPECT_EQ(pool->counters().overdraw, 0u);
  pool->free(pool->allocate(1));
  pool->free(two);
  EXPECT_EQ(pool->set_memory_limit(kUnlimited), 6 * kMiB);
  pool->check_laws();
}

TEST_P(MemoryLimit, CallersOfSeveralThreadsNeverBackMore) {
  const auto pool = open(32 * kMiB);
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 3; ++seed)
    threads.emplace_back([&pool, seed] {
      std::vector<void*> blocks;
      for (std::uint64_t step = 0; step < 3'000; ++step) {
        const std::uint64_t bytes = (step * 7919 + seed * 104'729) % (5 * kMiB);
        try {
          blocks.push_back(pool->allocate(bytes));
        } catch (const OverLimit&) {
          for (void* const block : blocks)
            pool->free(block);
          blocks.clear();
        }
      }
      for (void* const block : blocks)
        pool->free(block);
    });
  for (std::thread& thread : threads)
    thread.join();
  const Counters now = pool->counters();
  EXPECT_EQ(now.live, 0u);
  EXPECT_LE(now.backed_peak, 32 * kMiB);
  EXPECT_EQ(now.overdraw_peak, 0u);
  EXPECT_GT(now.refusals, 0u);
  pool->check_laws();
}

INSTANTIATE_TEST_SUITE_P(Policies, MemoryLimit, ::testing::Values(Policy::kMlx, Policy::kWeir), policy_name);

TEST(WeirMemoryLimit, LoweringReturnsNoMoreThanItMust) {
  const auto pool = open_pool(Policy::kWeir);
  pool->set_cache_limit(kUnlimited);
  pool->free(pool->allocate(30 * kMiB));
  pool->set_memory_limit(20 * kMiB);
  EXPECT_EQ(pool->counters().retained, 20 * kMiB);
}

}  // namespace
}  // namespace weir::pool
