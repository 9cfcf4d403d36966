#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "place/mlx_rule.h"
#include "place/units.h"
#include "pool/pool.h"
#include "pool/pool_subject.h"

namespace weir::pool {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

/// Of the pool's reservation; its page tells where that is.
std::uint64_t resident_in(Pool& pool) {
  alignas(64) static unsigned char bytes[sizeof(wire::CountersPage)];
  auto* const page = new (bytes) wire::CountersPage();
  pool.publish(page);
  pool.publish(nullptr);
  return resident_bytes(reinterpret_cast<const void*>(page->pool_start.load()),
                        page->pool_end.load() - page->pool_start.load());
}

void* touched(Pool& pool, std::uint64_t bytes) {
  void* const block = pool.allocate(bytes);
  std::memset(block, 1, bytes);
  return block;
}

/// Frees `count` touched blocks of 2 MiB.
void free_touched(Pool& pool, int count) {
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i)
    blocks.push_back(touched(pool, 2 * kMiB));
  for (void* const block : blocks)
    pool.free(block);
}

std::unique_ptr<Pool> open_small(Policy policy, std::optional<std::uint64_t> cache_limit) {
  Options options;
  options.policy = policy;
  options.cache_limit = cache_limit;
  options.reserve_bytes = 1ULL << 30;
  return open_pool(options);
}

class Retention : public ::testing::TestWithParam<Policy> {};

TEST_P(Retention, WithALimitOfNothingFreedGranulesLeaveMemoryAtOnce) {
  const auto pool = open_small(GetParam(), 0);
  void* const block = touched(*pool, 10 * kMiB);
  EXPECT_EQ(resident_in(*pool), 10 * kMiB);
  pool->free(block);
  EXPECT_EQ(resident_in(*pool), 0u);
  EXPECT_EQ(pool->counters().returned, 10 * kMiB);
}

TEST_P(Retention, LoweringTheLimitReturnsMemoryBeforeTheCallReturns) {
  const auto pool = open_small(GetParam(), kUnlimited);
  free_touched(*pool, 32);
  EXPECT_EQ(resident_in(*pool), 64 * kMiB);
  EXPECT_EQ(pool->set_cache_limit(8 * kMiB), kUnlimited);
  EXPECT_LE(resident_in(*pool), 8 * kMiB);
  EXPECT_LE(pool->counters().retained, 8 * kMiB);
  EXPECT_EQ(pool->set_cache_limit(std::nullopt), 8 * kMiB);
  pool->check_laws();
}

TEST_P(Retention, TrimReturnsEverythingAndSaysHowMuch) {
  const auto pool = open_small(GetParam(), kUnlimited);
  void* const block = touched(*pool, 2 * kMiB);
  free_touched(*pool, 16);
  EXPECT_EQ(pool->trim(), 32 * kMiB);
  EXPECT_EQ(resident_in(*pool), 2 * kMiB);
  EXPECT_EQ(pool->trim(), 0u);
  pool->free(block);
}

TEST_P(Retention, RetainedMemoryIsUsedAgainWithoutTheSystem) {
  const auto pool = open_small(GetParam(), kUnlimited);
  free_touched(*pool, 16);
  const Counters before = pool->counters();
  free_touched(*pool, 16);
  const Counters after = pool->counters();
  EXPECT_EQ(after.hits - before.hits, 16u);
  EXPECT_EQ(after.misses, before.misses);
  EXPECT_EQ(after.backed, before.backed);
}

TEST_P(Retention, ThePolicySwitchesWithBlocksOutstanding) {
  const Policy first = GetParam();
  const Policy second = first == Policy::kMlx ? Policy::kWeir : Policy::kMlx;
  const auto pool = open_small(first, 16 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 64; ++i)
    blocks.push_back(touched(*pool, kMiB / 2 + static_cast<std::uint64_t>(i)));
  for (const Policy policy : {second, first, second, second}) {
    const Policy before = pool->policy();
    EXPECT_EQ(pool->set_policy(policy), before);
    EXPECT_EQ(pool->policy(), policy);
    EXPECT_LE(pool->counters().retained, 16 * kMiB);
    for (int i = 0; i < 12; ++i) {
      pool->free(blocks.back());
      blocks.pop_back();
    }
    pool->check_laws();
  }
  for (void* const block : blocks)
    pool->free(block);
  EXPECT_EQ(pool->counters().live, 0u);
  EXPECT_LE(pool->counters().retained, 16 * kMiB);
  pool->check_laws();
}

TEST_P(Retention, AForeignPointerAndASecondFreeAreTroublesAndNothingElse) {
  const auto pool = open_small(GetParam(), kUnlimited);
  auto* const block = static_cast<char*>(touched(*pool, 100'000));
  int elsewhere = 0;
  pool->free(&elsewhere);
  pool->free(block + 64);
  pool->free(block + 1);
  EXPECT_EQ(pool->counters().troubles, 3u);
  EXPECT_EQ(pool->counters().live, 100'000u);
  EXPECT_EQ(pool->capacity(block + 64), 0u);
  EXPECT_EQ(pool->capacity(&elsewhere), 0u);
  pool->free(block);
  pool->free(block);
  EXPECT_EQ(pool->counters().troubles, 4u);
  EXPECT_EQ(pool->counters().frees, 1u);
  EXPECT_EQ(pool->capacity(block), 0u);
  pool->check_laws();
}

TEST_P(Retention, ResettingPeaksStartsFromNow) {
  const auto pool = open_small(GetParam(), 0);
  void* const block = pool->allocate(kMiB);
  pool->free(pool->allocate(20 * kMiB));
  EXPECT_GE(pool->counters().live_peak, 21 * kMiB);
  pool->reset_peaks();
  EXPECT_EQ(pool->counters().live_peak, kMiB);
  EXPECT_EQ(pool->counters().backed_peak, pool->counters().backed);
  pool->free(block);
}

INSTANTIATE_TEST_SUITE_P(Policies, Retention, ::testing::Values(Policy::kMlx, Policy::kWeir), policy_name);

TEST(MlxRetention, UnsetIsTheLibrarysDefault) {
  const auto pool = open_small(Policy::kMlx, std::nullopt);
  EXPECT_EQ(pool->cache_limit(), place::MlxRule::kDefaultLimit);
  free_touched(*pool, 32);
  EXPECT_EQ(pool->counters().retained, place::MlxRule::kDefaultLimit);
}

TEST(MlxRetention, HandsOutAKeptBlockWholeWithItsCapacity) {
  const auto pool = open_small(Policy::kMlx, kUnlimited);
  void* const block = pool->allocate(5'000);
  pool->free(block);
  EXPECT_EQ(pool->counters().live, 0u);
  EXPECT_EQ(pool->counters().retained, 5'000u);
  void* const again = pool->allocate(3'000);
  EXPECT_EQ(again, block);
  EXPECT_EQ(pool->capacity(again), 5'000u);
  EXPECT_EQ(pool->counters().live, 5'000u);
  pool->free(again);
  EXPECT_NE(pool->allocate(1'000), block);  // too small a request for it
}

TEST(MlxRetention, FreeGranulesAndKeptBlocksShareTheLimit) {
  const auto pool = open_small(Policy::kMlx, 8 * kMiB);
  std::vector<void*> blocks;
  for (int i = 0; i < 6; ++i)
    blocks.push_back(touched(*pool, 3 * kMiB));
  for (void* const block : blocks) {
    pool->free(block);
    ASSERT_LE(pool->counters().retained, 8 * kMiB);
  }
  pool->check_laws();
}

TEST(WeirRetention, UnsetFollowsDemand) {
  const auto pool = open_small(Policy::kWeir, std::nullopt);
  EXPECT_EQ(pool->cache_limit(), kUnlimited);
  for (int round = 0; round < 3; ++round)
    free_touched(*pool, 32);
  const Counters now = pool->counters();
  EXPECT_EQ(now.misses, 32u);
  EXPECT_LE(now.backed_peak, 64 * kMiB + 64 * kMiB / 20 + 4 * kMiB);
}

TEST(WeirRetention, AgedGranulesGoFreshOnesStay) {
  const auto pool = open_small(Policy::kWeir, kUnlimited);
  free_touched(*pool, 8);
  EXPECT_EQ(pool->trim_aged(3'600'000), 0u);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(pool->trim_aged(20), 16 * kMiB);
  EXPECT_EQ(resident_in(*pool), 0u);
  pool->check_laws();
}

TEST(WeirRetention, AgingKeepsWhatMlxsRuleKeeps) {
  const auto pool = open_small(Policy::kMlx, kUnlimited);
  free_touched(*pool, 8);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(pool->trim_aged(0), 0u);
  EXPECT_EQ(pool->counters().retained, 16 * kMiB);
}

TEST(WeirRetention, MovesGranulesInsteadOfFaultingNewOnes) {
  const auto pool = open_small(Policy::kWeir, kUnlimited);
  std::vector<void*> blocks;
  for (int i = 0; i < 32; ++i)
    blocks.push_back(touched(*pool, 2 * kMiB));
  std::vector<void*> kept;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (i % 2 == 0) {
      pool->free(blocks[i]);
    } else {
      kept.push_back(blocks[i]);
    }
  }
  void* const large = touched(*pool, 24 * kMiB);  // no hole of 2 MiB holds it
  const Counters now = pool->counters();
  EXPECT_EQ(now.backed, 64 * kMiB);
  EXPECT_TRUE(now.moved >= 20 * kMiB || now.returned >= 20 * kMiB);
  pool->free(large);
  for (void* const block : kept)
    pool->free(block);
  pool->check_laws();
}

}  // namespace
}  // namespace weir::pool
