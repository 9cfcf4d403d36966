#pragma once

// What every allocator that answers MLX must do, as a GoogleTest suite. A test file includes this, defines a
// subject, and instantiates the suite: INSTANTIATE_TEST_SUITE_P(Mine, AllocatorContract, Values(&open_mine)).

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "pool/contract_subject.h"

namespace weir::pool::contract {

class AllocatorContract : public ::testing::TestWithParam<OpenSubject> {
 protected:
  std::unique_ptr<ISubject> subject_ = GetParam()();
};

TEST_P(AllocatorContract, BlocksAreAlignedLargeEnoughAndDoNotOverlap) {
  PatternedBlocks blocks(*subject_, 1);
  blocks.run(20'000, 64 << 20);
  EXPECT_EQ(subject_->live(), blocks.bytes());
  blocks.remove_all();
  EXPECT_EQ(subject_->live(), 0u);
  subject_->check_laws();
}

TEST_P(AllocatorContract, BlocksOfSeveralThreadsDoNotOverlap) {
  constexpr int kThreads = 4;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < kThreads; ++seed)
    threads.emplace_back([this, seed] {
      PatternedBlocks blocks(*subject_, 100 + seed);
      blocks.run(4'000, 16 << 20);
      blocks.remove_all();
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(subject_->live(), 0u);
  subject_->check_laws();
}

TEST_P(AllocatorContract, ABlockMayBeFreedOnAnotherThread) {
  std::vector<void*> blocks;
  for (int i = 0; i < 500; ++i)
    blocks.push_back(subject_->allocate(1000 * i));
  std::thread other([&] {
    for (void* const block : blocks)
      subject_->free(block);
  });
  other.join();
  EXPECT_EQ(subject_->live(), 0u);
  subject_->check_laws();
}

TEST_P(AllocatorContract, BlocksOfNoBytesAreDistinct) {
  void* const one = subject_->allocate(0);
  void* const other = subject_->allocate(0);
  EXPECT_NE(one, nullptr);
  EXPECT_NE(one, other);
  EXPECT_EQ(subject_->capacity(one), 0u);
  subject_->free(one);
  subject_->free(other);
  EXPECT_EQ(subject_->live(), 0u);
}

TEST_P(AllocatorContract, NoBlockIsFreedAsNothing) {
  subject_->free(nullptr);
  EXPECT_EQ(subject_->capacity(nullptr), 0u);
}

TEST_P(AllocatorContract, RetainedStaysWithinTheLimitAfterEveryCall) {
  constexpr std::uint64_t kLimit = 8 << 20;
  subject_->set_cache_limit(kLimit);
  std::mt19937_64 random(5);
  std::vector<void*> blocks;
  for (int step = 0; step < 5'000; ++step) {
    if (!blocks.empty() && random() % 2 == 0) {
      subject_->free(blocks.back());
      blocks.pop_back();
    } else {
      blocks.push_back(subject_->allocate(random() % (3 << 20)));
    }
    ASSERT_LE(subject_->retained(), kLimit);
    if (blocks.size() > 40) std::swap(blocks[random() % blocks.size()], blocks.back());
  }
  for (void* const block : blocks)
    subject_->free(block);
  EXPECT_LE(subject_->retained(), kLimit);
  subject_->check_laws();
}

TEST_P(AllocatorContract, ALimitOfNothingRetainsNothing) {
  subject_->set_cache_limit(0);
  for (const std::uint64_t bytes : {100u, 70'000u, 5u << 20}) {
    subject_->free(subject_->allocate(bytes));
    EXPECT_EQ(subject_->retained(), 0u) << bytes;
  }
}

TEST_P(AllocatorContract, TrimmingLeavesLiveBlocksAlone) {
  subject_->set_cache_limit(~std::uint64_t{0});
  PatternedBlocks blocks(*subject_, 9);
  blocks.run(2'000, 64 << 20);
  subject_->trim();
  EXPECT_EQ(subject_->retained(), 0u);
  EXPECT_EQ(subject_->live(), blocks.bytes());
  blocks.remove_all();
}

TEST_P(AllocatorContract, LoweringTheLimitDropsAtOnce) {
  subject_->set_cache_limit(~std::uint64_t{0});
  std::vector<void*> blocks;
  for (int i = 0; i < 40; ++i)
    blocks.push_back(subject_->allocate(1 << 20));
  for (void* const block : blocks)
    subject_->free(block);
  EXPECT_GE(subject_->retained(), 32u << 20);
  subject_->set_cache_limit(4 << 20);
  EXPECT_LE(subject_->retained(), 4u << 20);
  subject_->check_laws();
}

}  // namespace weir::pool::contract
