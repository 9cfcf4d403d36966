/// A program that MLX asks for its allocator (interpose.cpp is linked), run by ctest once for each allocator:
/// WEIR_AGENT says which. Whole programs are what the hard cap must survive.

#include <mlx/mlx.h>

#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "govern/over_pool.h"
#include "govern/own_process.h"
#include "govern/process_governor.h"
#include "pool/hard_cap.h"

namespace weir::govern {
namespace {

namespace mx = mlx::core;

constexpr std::uint64_t kMiB = 1ULL << 20;

bool has_pool() {
  return process_pool() != nullptr;
}

/// A hard cap that ends with the test.
class Cap {
 public:
  explicit Cap(std::uint64_t bytes) { process_over_pool()->limits.set_program_memory_limit(bytes); }
  Cap(const Cap&) = delete;
  Cap& operator=(const Cap&) = delete;
  ~Cap() { process_over_pool()->limits.set_program_memory_limit(std::nullopt); }
};

/// `extra` above what is backed when nothing is retained.
std::uint64_t above_now(std::uint64_t extra) {
  process_pool()->trim();
  return process_pool()->counters().backed + extra;
}

mx::array numbers(int rows, int columns) {
  return mx::reshape(mx::arange(0, static_cast<double>(rows) * columns, 1, mx::float32), {rows, columns});
}

/// Sum of (0 + 1 + … + n − 1) + n, through buffers of 4 n bytes.
mx::array large_sum(int rows, int columns) {
  return mx::sum(mx::add(numbers(rows, columns), mx::array(1.0F)));
}

/// Of large_sum(64, 64), exact in a float.
constexpr float kSmallSum = 4096.0F * 4095 / 2 + 4096;

class Interposed : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto governed = require_governed();
    ASSERT_TRUE(governed) << describe(governed.error());
  }
};

class InterposedPool : public Interposed {
 protected:
  void SetUp() override {
    if (!has_pool()) GTEST_SKIP() << "mlx has no hard cap";
    mx::synchronize();
    live_before_ = process_pool()->counters().live;
  }
  void TearDown() override {
    if (!has_pool()) return;
    mx::synchronize();
    EXPECT_EQ(process_pool()->counters().live, live_before_) << "a failed request left buffers";
    process_pool()->check_laws();
  }
  std::uint64_t live_before_ = 0;
};

TEST_F(Interposed, IsGovernedAsItsSettingsSay) {
  wire::AgentSettings wanted;
  const char* const text = std::getenv(wire::kAgentVariable);
  ASSERT_TRUE(text == nullptr || wire::parse_settings(text, wanted));
  ASSERT_NE(process_settings(), nullptr);
  EXPECT_EQ(*process_settings(), wanted);
  EXPECT_EQ(has_pool(), wanted.allocator != wire::Allocator::kMlx);
  EXPECT_FALSE(configure_process(wanted)) << "too late";
}

TEST_F(Interposed, ArraysComputeRightValues) {
  for (int n = 1; n < 400; n += 37) {
    const mx::array a = numbers(n, n + 3);
    mx::array product = mx::matmul(mx::transpose(a), a);
    mx::array sorted = mx::sort(mx::negative(mx::flatten(a)));
    mx::array joined = mx::concatenate({a, mx::multiply(a, mx::array(2.0F))}, 0);
    mx::eval({product, sorted, joined});
    double corner = 0;
    for (int i = 0; i < n; ++i)
      corner += std::pow(static_cast<double>(i) * (n + 3), 2);
    EXPECT_NEAR(product.data<float>()[0], corner, corner * 1e-5) << n;
    EXPECT_EQ(sorted.data<float>()[0], -static_cast<float>(n * (n + 3) - 1));
    EXPECT_EQ(joined.data<float>()[2 * n * (n + 3) - 1], 2.0F * static_cast<float>(n * (n + 3) - 1));
  }
}

TEST_F(Interposed, TheHostsFunctionsAnswerForTheAllocatorThatIsThere) {
  mx::clear_cache();
  const std::size_t active = mx::get_active_memory();
  mx::reset_peak_memory();
  {
    mx::array held = numbers(512, 1024);
    mx::eval(held);
    EXPECT_EQ(mx::get_active_memory(), active + 512 * 1024 * 4);
    EXPECT_GE(mx::get_peak_memory(), mx::get_active_memory());
  }
  mx::synchronize();
  EXPECT_EQ(mx::get_active_memory(), active);
  const std::size_t limit = mx::set_cache_limit(0);
  EXPECT_EQ(mx::get_cache_memory(), 0u);
  EXPECT_EQ(mx::set_cache_limit(limit), 0u);
  const std::size_t memory = mx::get_memory_limit();
  EXPECT_EQ(mx::set_memory_limit(memory), memory);
  EXPECT_EQ(mx::set_wired_limit(0), 0u);
}

TEST_F(InterposedPool, ARefusalReachesTheCallerOfEvalWithItsSumAndTheNextRequestWorks) {
  const Cap cap(above_now(16 * kMiB));
  {
    mx::array large = large_sum(4096, 4096);
    try {
      mx::eval(large);
      FAIL() << "64 MiB under a cap of 16";
    } catch (const std::bad_alloc& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("weir"), std::string::npos) << refusal.what();
      EXPECT_NE(dynamic_cast<const pool::OverLimit*>(&refusal), nullptr);
    }
  }
  EXPECT_EQ(large_sum(64, 64).item<float>(), kSmallSum);
}

TEST_F(InterposedPool, TwoHundredRefusalsInARowLeaveNothing) {
  const Cap cap(above_now(16 * kMiB));
  const std::uint64_t before = process_pool()->counters().live;
  const std::uint64_t refused = process_pool()->counters().refusals;
  for (int i = 0; i < 200; ++i) {
    mx::array large = large_sum(4096, 4096);
    EXPECT_THROW(mx::eval(large), std::bad_alloc);
  }
  mx::synchronize();
  EXPECT_EQ(process_pool()->counters().live, before);
  EXPECT_EQ(process_pool()->counters().refusals, refused + 200);
  EXPECT_LE(process_pool()->counters().backed, process_pool()->memory_limit());
}

TEST_F(InterposedPool, ARefusalReachesTheCallerOfAsyncEval) {
  const Cap cap(above_now(16 * kMiB));
  {
    mx::array large = large_sum(4096, 4096);
    EXPECT_THROW(
        {
          mx::async_eval(large);
          mx::eval(large);
        },
        std::bad_alloc);
  }
  EXPECT_EQ(large_sum(64, 64).item<float>(), kSmallSum);
}

TEST_F(InterposedPool, ARefusalReachesASecondThreadAndLeavesTheFirstAlone) {
  const Cap cap(above_now(24 * kMiB));
  bool refused = false;
  float small = 0;
  std::thread second([&] {
    {
      mx::array large = large_sum(4096, 4096);
      try {
        mx::eval(large);
      } catch (const std::bad_alloc&) {
        refused = true;
      }
    }
    small = large_sum(64, 64).item<float>();
    mx::synchronize();
  });
  EXPECT_EQ(large_sum(64, 64).item<float>(), kSmallSum);
  second.join();
  EXPECT_TRUE(refused);
  EXPECT_EQ(small, kSmallSum);
}

/// Rows that do not depend on one another.
mx::array square(int n) {
  mx::array base = numbers(n, n);
  return mx::add(mx::sin(base), mx::multiply(mx::eye(n), mx::array(static_cast<float>(n))));
}

float largest_error(const mx::array& a, const std::vector<mx::array>& parts) {
  const mx::array again = mx::matmul(mx::multiply(parts[0], parts[1]), parts[2]);
  return mx::max(mx::abs(mx::subtract(again, a))).item<float>();
}

TEST_F(InterposedPool, AWorkersAllocationOverdrawsAndIsRepaidAndNoValueIsEverWrong) {
  constexpr int kSide = 448;
  {
    mx::array a = square(kSide);
    mx::eval(a);
    int refused = 0, done = 0;
    const std::uint64_t overdraws = process_pool()->counters().overdraws;
    for (std::uint64_t extra = 0; extra <= 12 * kMiB; extra += 2 * kMiB) {
      std::vector<mx::array> parts = mx::linalg::svd(a);
      {
        const Cap cap(above_now(extra));
        try {
          mx::eval(parts);
        } catch (const std::bad_alloc&) {
          ++refused;
          continue;
        }
      }
      ++done;
      EXPECT_LT(largest_error(a, parts), 1e-2F) << "with " << extra;
    }
    mx::synchronize();
    EXPECT_GT(refused, 0);
    EXPECT_GT(done, 0);
    EXPECT_GT(process_pool()->counters().overdraws, overdraws) << "no cap fell between caller and worker";
  }
  mx::synchronize();
  EXPECT_EQ(process_pool()->counters().overdraw, 0u);
}

/// Three buffers of 4 MiB at a time.
mx::array product_sum() {
  return mx::sum(mx::multiply(mx::add(numbers(1024, 1024), mx::array(1.0F)), mx::sin(numbers(1024, 1))));
}

TEST_F(InterposedPool, EveryCapUpToTheNeedRefusesOrComputesTheRightValue) {
  const float expected = product_sum().item<float>();
  int refused = 0, done = 0;
  for (std::uint64_t extra = 0; extra <= 40 * kMiB; extra += kMiB) {
    mx::array sum = product_sum();
    const Cap cap(above_now(extra));
    try {
      mx::eval(sum);
    } catch (const std::bad_alloc&) {
      ++refused;
      continue;
    }
    ++done;
    EXPECT_EQ(sum.item<float>(), expected) << "with " << extra;
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(done, 0);
}

}  // namespace
}  // namespace weir::govern

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  std::fflush(nullptr);
  std::_Exit(code);  // MLX's threads may wait for ever in its destructors after an allocation failed
}
