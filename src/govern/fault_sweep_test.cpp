/// A program whose allocator() fails one allocation of the caller's after another, over weir's pool.

#include <mlx/mlx.h>

#include <atomic>
#include <cstdlib>

#include <gtest/gtest.h>

#include "govern/over_pool.h"
#include "pool/hard_cap.h"
#include "pool/thread_kind.h"
#include "wire/page_file.h"

namespace mx = mlx::core;

namespace weir::govern {
namespace {

/// Refuses the one that is due, as the hard cap would.
class FailingAllocator final : public mx::allocator::Allocator {
 public:
  explicit FailingAllocator(OverPool& over) : over_(over) {}
  mx::allocator::Buffer malloc(std::size_t size) override {
    if (pool::this_thread_kind() == pool::ThreadKind::kCaller && ++asked_ == due_)
      throw pool::OverLimit({.requested = size, .memory_limit = 1});
    return over_.allocator.malloc(size);
  }
  void free(mx::allocator::Buffer buffer) override { over_.allocator.free(buffer); }
  [[nodiscard]] std::size_t size(mx::allocator::Buffer buffer) const override {
    return over_.allocator.size(buffer);
  }
  /// 0: none fails.
  void fail(int due) {
    asked_ = 0;
    due_ = due;
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  OverPool& over_;
  std::atomic<int> asked_{0}, due_{0};
};

/// Leaked, as in a governed process.
OverPool& over_pool() {
  static auto* const page = new PageSlot(wire::make_page("", {}, nullptr));
  static auto* const over = value_or_throw(OverPool::open({}, *page, 1'000'000'000'000)).release();
  return *over;
}

FailingAllocator& failing() {
  static auto* const allocator = new FailingAllocator(over_pool());
  return *allocator;
}

}  // namespace
}  // namespace weir::govern

namespace mlx::core {

allocator::Allocator& allocator::allocator() {
  return weir::govern::failing();
}
void* allocator::Buffer::raw_ptr() {
  return ptr_;
}
std::size_t get_active_memory() {
  return weir::govern::over_pool().calls.active_memory();
}
std::size_t get_memory_limit() {
  return weir::govern::over_pool().calls.memory_limit();
}

}  // namespace mlx::core

namespace weir::govern {
namespace {

/// A layer's worth of kinds of operation: products, softmax, views and copies, a sort, a worker's scratch.
std::vector<mx::array> graph() {
  const mx::array x = mx::reshape(mx::arange(0, 48 * 64, 1, mx::float32), {48, 64});
  const mx::array y = mx::sin(x);
  const mx::array scores = mx::softmax(mx::matmul(y, mx::transpose(y)), -1);
  const mx::array mixed = mx::matmul(scores, y);
  const mx::array joined = mx::concatenate({mixed, mx::slice(x, {0, 0}, {48, 32})}, 1);
  const mx::array sorted = mx::sort(mx::astype(mx::transpose(joined), mx::float16));
  const mx::array inverse = mx::linalg::inv(mx::add(scores, mx::multiply(mx::eye(48), mx::array(3.0F))));
  return {mx::sum(joined, 0), mx::flatten(sorted), mx::cumsum(inverse, 1), mx::argsort(mixed, 1)};
}

std::vector<float> values(const std::vector<mx::array>& arrays) {
  std::vector<float> all;
  for (const mx::array& array : arrays) {
    const mx::array flat = mx::flatten(mx::astype(array, mx::float32));
    mx::array copy = mx::contiguous(flat);
    mx::eval(copy);
    all.insert(all.end(), copy.data<float>(), copy.data<float>() + copy.size());
  }
  return all;
}

std::uint64_t live_at_rest() {
  mx::synchronize();
  return over_pool().pool->counters().live;
}

enum class Way { kEval, kAsync };

/// Fails each allocation of the caller's in turn and returns how many there were.
int sweep(Way way, const std::vector<float>& expected) {
  const std::uint64_t live = live_at_rest();
  for (int due = 1;; ++due) {
    bool refused = false;
    {
      const std::vector<mx::array> arrays = graph();
      failing().fail(due);
      try {
        if (way == Way::kAsync) mx::async_eval(arrays);
        mx::eval(arrays);
      } catch (const std::bad_alloc&) {
        refused = true;
      }
      const int asked = failing().asked();
      failing().fail(0);
      if (!refused) {
        EXPECT_LT(asked, due) << "an allocation failed and nobody was told";
        EXPECT_EQ(values(arrays), expected);
        return due - 1;
      }
    }
    EXPECT_EQ(live_at_rest(), live) << "after failing allocation " << due;
    EXPECT_EQ(values(graph()), expected) << "after failing allocation " << due;
    if (testing::Test::HasFailure()) return due;
  }
}

TEST(FaultSweep, FailingEachAllocationInTurnLeavesNoWrongValueAndNoBuffer) {
  const std::vector<float> expected = values(graph());
  EXPECT_GT(sweep(Way::kEval, expected), 10);
  EXPECT_GT(sweep(Way::kAsync, expected), 10);
  over_pool().pool->check_laws();
}

}  // namespace
}  // namespace weir::govern

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int code = RUN_ALL_TESTS();
  std::fflush(nullptr);
  std::_Exit(code);  // MLX's threads may wait for ever in its destructors after an allocation failed
}
