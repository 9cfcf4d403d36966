#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <utility>
#include <vector>

#include "place/failing_allocations.h"
#include "pool/hard_cap.h"
#include "pool/kernel_calls.h"
#include "pool/pool.h"
#include "pool/pool_subject.h"

// Makes each step inside the pool fail in turn: system calls on memory, and the C++ heap for its own books.
// Whatever fails, nothing aborts, leaks, overlaps, or leaves sums that do not add up.

namespace weir::pool {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

struct Block {
  unsigned char* start = nullptr;
  std::uint64_t bytes = 0;
  unsigned char pattern = 0;
};

constexpr std::uint64_t kStride = 65'536;  // few pages, so that hundreds of runs stay quick

void fill(const Block& block) {
  for (std::uint64_t i = 0; i < block.bytes; i += kStride)
    block.start[i] = block.pattern;
}

bool is_whole(const Block& block) {
  for (std::uint64_t i = 0; i < block.bytes; i += kStride)
    if (block.start[i] != block.pattern) return false;
  return true;
}

/// A fixed trace that grows, frees, moves, drops and returns. False when a block was broken.
bool run_trace(Pool& pool, std::vector<Block>& blocks) {
  constexpr std::uint64_t kLimits[] = {64 * kMiB, 2 * kMiB, 0, 5 * kMiB};
  std::mt19937 random(3);
  for (unsigned step = 0; step < 160; ++step) {
    const std::uint64_t bytes = random() % (step % 2 == 0 ? 12 * kMiB : 100'000);
    const std::size_t index = random() % (blocks.size() + 1);
    if (random() % 100 < 58) {
      try {
        auto* const start = static_cast<unsigned char*>(pool.allocate(bytes));
        blocks.push_back({start, bytes, static_cast<unsigned char>(step)});
        fill(blocks.back());
      } catch (const OverLimit&) {
        continue;  // as a host would
      }
    } else if (index < blocks.size()) {
      if (!is_whole(blocks[index])) return false;
      pool.free(blocks[index].start);
      blocks[index] = blocks.back();
      blocks.pop_back();
    }
    if (step % 8 == 7) pool.set_cache_limit(kLimits[step / 8 % 4]);
    if (step % 50 == 49) pool.trim();
  }
  return true;
}

/// One run with faults armed by `arm` and disarmed by `disarm`. Returns false, with a line, on any harm.
template <class Arm, class Disarm>
bool survives(Policy policy, Arm arm, Disarm disarm) {
  Options options;
  options.policy = policy;
  options.huge_pages = false;  // a run touches little of its blocks
  std::vector<Block> blocks;
  blocks.reserve(400);
  const auto pool = open_pool(options);
  arm();
  const bool whole = run_trace(*pool, blocks);
  disarm();
  try {
    pool->check_laws();
    if (!whole) throw std::runtime_error("a block was broken");
    for (const Block& block : blocks) {
      if (!is_whole(block)) throw std::runtime_error("a block was broken");
      pool->free(block.start);
    }
    if (pool->counters().live != 0) throw std::runtime_error("something leaked");
    pool->trim();
    pool->check_laws();
    if (pool->counters().backed != 0) throw std::runtime_error("something stayed backed");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return false;
  }
  return true;
}

constexpr auto kDisarmCalls = [] { kernel::fail_calls(0, 0, 0); };

/// Every `stride`-th call of these kinds fails in turn: once, and from then on for a while.
bool sweep_calls(Policy policy, unsigned kinds) {
  const auto none = [kinds] { kernel::fail_calls(kinds, 1'000'000, 0); };
  std::int64_t calls = 0;
  if (!survives(policy, none, [&calls] {
        calls = kernel::calls_seen();
        kDisarmCalls();
      }))
    return false;
  constexpr std::int64_t kMostRuns = 15;
  const std::int64_t stride = calls / kMostRuns + 1;
  for (std::int64_t at = 0; at < calls; at += stride) {
    for (const std::int64_t fail : {1, 7}) {
      if (survives(
              policy, [=] { kernel::fail_calls(kinds, at, fail); }, kDisarmCalls))
        continue;
      std::fprintf(stderr, "kinds %x, call %lld of %lld, %lld failing\n", kinds, static_cast<long long>(at),
                   static_cast<long long>(calls), static_cast<long long>(fail));
      return false;
    }
  }
  return true;
}

int sweep_all_calls() {
  using kernel::Call;
  using kernel::only;
  for (const Policy policy : {Policy::kWeir, Policy::kMlx})
    for (const unsigned kinds : {only(Call::kMap), only(Call::kMap) | only(Call::kProtect), only(Call::kMove),
                                 only(Call::kMove) | only(Call::kMap), only(Call::kDiscard)})
      if (!sweep_calls(policy, kinds)) return 1;
  return 0;
}

template <int kResource>
int sweep_under_limit() {
  const rlimit limit{std::uint64_t{1} << 62, std::uint64_t{1} << 62};  // finite is enough
  if (::setrlimit(static_cast<__rlimit_resource>(kResource), &limit) != 0) return 2;
  return sweep_all_calls();
}

TEST(Faults, EachSystemCallMayFailOnAReservation) {
  EXPECT_EQ(in_child(sweep_all_calls), 0);
}

TEST(Faults, EachSystemCallMayFailWithRangesOnDemand) {
  EXPECT_EQ(in_child(sweep_under_limit<RLIMIT_AS>), 0);
}

TEST(Faults, EachSystemCallMayFailWhereGranulesAreCharged) {
  EXPECT_EQ(in_child(sweep_under_limit<RLIMIT_DATA>), 0);
}

TEST(Faults, EachAllocationOfItsOwnBooksMayFail) {
  for (const Policy policy : {Policy::kWeir, Policy::kMlx}) {
    for (std::int64_t at = 0; at < 150; at += at < 30 ? 1 : 6) {
      // From there on every allocation fails until the trace ends.
      ASSERT_TRUE(survives(
          policy, [at] { place::allocations_left = at; }, [] { place::allocations_left = -1; }))
          << "at " << at;
    }
  }
}

TEST(Faults, WhatTheKernelRefusesIsRefusedWithItsReason) {
  const KernelFaults faults;
  Options options;
  options.reserve_bytes = 64 * kMiB;
  const auto pool = open_pool(options);
  void* const block = pool->allocate(1'000);
  kernel::fail_calls(kernel::only(kernel::Call::kMap), 0, 100);
  try {
    (void)pool->allocate(100 * kMiB);
    FAIL() << "granted";
  } catch (const OverLimit& error) {
    EXPECT_EQ(error.refusal().memory_limit, kUnlimited);
    EXPECT_EQ(error.refusal().live, 1'000u);
  }
  pool->free(pool->allocate(10 * kMiB));
  kernel::fail_calls(0, 0, 0);
  pool->free(pool->allocate(100 * kMiB));
  pool->free(block);
  pool->check_laws();
}

}  // namespace
}  // namespace weir::pool
