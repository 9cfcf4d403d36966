/// Linked with libmlx and without interpose.cpp: MLX's real allocator beside the pool that repeats its rule.

#include <mlx/allocator.h>
#include <mlx/memory.h>

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "pool/pool.h"

namespace weir::govern {
namespace {

constexpr int kOperations = 1'000'000;
constexpr std::size_t kMostLive = 300;
constexpr std::uint64_t kMostLiveBytes = 256ULL << 20;

/// The same buffer in both.
struct Twin {
  mlx::core::allocator::Buffer real;
  void* block;
};

/// Sizes that meet: few distinct ones, their neighbours, both edges of the window of reuse, and any.
class Sizes {
 public:
  explicit Sizes(std::mt19937_64& random) : random_(random) {
    for (std::uint64_t& size : frequent_)
      size = random_() % (3ULL << 20);
  }
  std::uint64_t draw() {
    const std::uint64_t base = frequent_[random_() % std::size(frequent_)];
    switch (random_() % 10) {
      case 0:
        return base + random_() % 3;
      case 1:
        return base + 8192 - random_() % 3;
      case 2:
        return base < 8192 ? 2 * base + 1 - random_() % 3 : base - 8192 + random_() % 3;
      case 3:
        return random_() % 20'000;
      case 4:
        return random_() % (4ULL << 20);
      case 5:
        return random_() % 4;
      default:
        return base;
    }
  }

 private:
  std::mt19937_64& random_;
  std::uint64_t frequent_[24];
};

class BothAllocators {
 public:
  BothAllocators() {
    pool::Options options;
    options.policy = pool::Policy::kMlx;
    pool_ = value_or_throw(pool::Pool::open(options));
    mlx::core::clear_cache();
    limit_before_ = mlx::core::set_cache_limit(pool_->cache_limit());
    first_live_ = mlx::core::get_active_memory();
  }
  ~BothAllocators() {
    while (!twins_.empty())
      free_one();
    mlx::core::clear_cache();
    (void)mlx::core::set_cache_limit(limit_before_);
  }

  [[nodiscard]] int hits() const { return hits_; }

  void step() {
    const std::uint64_t draw = random_() % 1000;
    if (draw < 6) return set_limit();
    if (draw < 8) return clear();
    const bool full = twins_.size() >= kMostLive || pool_->counters().live > kMostLiveBytes;
    if (!twins_.empty() && (full || random_() % 2 == 0)) return free_one();
    allocate();
  }

  void compare() {
    const pool::Counters counters = pool_->counters();
    ASSERT_EQ(counters.live, mlx::core::get_active_memory() - first_live_);
    ASSERT_EQ(counters.kept, mlx::core::get_cache_memory());
  }

 private:
  void allocate() {
    const std::uint64_t size = sizes_.draw();
    const std::size_t kept = mlx::core::get_cache_memory();
    const Twin twin{mlx_.malloc(size), pool_->allocate(size)};
    if (mlx::core::get_cache_memory() < kept) ++hits_;
    twins_.push_back(twin);
    ASSERT_EQ(pool_->capacity(twin.block), mlx_.size(twin.real)) << size;
  }
  void free_one() {
    std::swap(twins_[random_() % twins_.size()], twins_.back());
    mlx_.free(twins_.back().real);
    pool_->free(twins_.back().block);
    twins_.pop_back();
  }
  void set_limit() {
    const std::uint64_t kept = mlx::core::get_cache_memory();
    const std::uint64_t choices[] = {0,
                                     1,
                                     kept / 10,
                                     kept / 10 + 1,
                                     kept / 2,
                                     kept,
                                     kept - kept / 3,
                                     32ULL << 20,
                                     random_() % (64ULL << 20),
                                     1ULL << 40};
    const std::uint64_t limit = choices[random_() % std::size(choices)];
    ASSERT_EQ(pool_->cache_limit(), mlx::core::set_cache_limit(limit));
    pool_->set_cache_limit(limit);
    if (limit < 4096) restore_soon_ = true;
    if (!restore_soon_ || random_() % 2 == 0) return;
    (void)mlx::core::set_cache_limit(48ULL << 20);
    pool_->set_cache_limit(48ULL << 20);
    restore_soon_ = false;
  }
  void clear() {
    mlx::core::clear_cache();
    pool_->trim();
  }

  std::mt19937_64 random_{20261130};
  Sizes sizes_{random_};
  mlx::core::allocator::Allocator& mlx_ = mlx::core::allocator::allocator();
  std::unique_ptr<pool::Pool> pool_;
  std::vector<Twin> twins_;
  std::uint64_t first_live_ = 0, limit_before_ = 0;
  int hits_ = 0;
  bool restore_soon_ = false;
};

TEST(MlxPolicy, EqualsMlxEventByEventOverAMillionRandomOperations) {
  BothAllocators both;
  for (int i = 0; i < kOperations; ++i) {
    both.step();
    both.compare();
    if (HasFatalFailure()) FAIL() << "operation " << i;
  }
  EXPECT_GT(both.hits(), kOperations / 10) << "else it proves little";
}

}  // namespace
}  // namespace weir::govern
