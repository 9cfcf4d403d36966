#include "govern/governor.h"

#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "govern/over_pool.h"
#include "pool/hard_cap.h"
#include "pool/thread_kind.h"
#include "wire/page_file.h"

namespace weir::govern {
namespace {

using limits::Mode;
using limits::Setting;

/// MLX's documented behaviour without MLX: trims on set, reports the previous limit.
class FakeMlx final : public IMlxMemory {
 public:
  std::uint64_t set_cache_limit(std::uint64_t bytes) override {
    ++sets;
    const std::uint64_t previous = limit;
    if (!dead) limit = bytes;
    if (cache > limit) cache = 0;
    return previous;
  }
  void clear_cache() override { cache = 0; }
  void reset_peak() override { peak = active; }
  std::uint64_t active_bytes() override { return active; }
  std::uint64_t cache_bytes() override { return cache; }
  std::uint64_t peak_bytes() override { return peak; }

  bool dead = false;
  int sets = 0;
  std::uint64_t limit = 33554432, active = 100, cache = 0, peak = 0;
};

Setting bytes(std::int64_t value) {
  Setting setting;
  setting.mode = Mode::kBytes;
  setting.bytes = value;
  return setting;
}

Setting mode(Mode value) {
  Setting setting;
  setting.mode = value;
  return setting;
}

TEST(Governor, ReportsPreviousNewAndTrimmedBytes) {
  FakeMlx mlx;
  Governor governor(mlx);
  mlx.cache = 5000;
  const LimitChange change = governor.set_cache_limit(bytes(1000));
  EXPECT_EQ(change.previous_bytes, 33554432);
  EXPECT_EQ(change.in_force_bytes, 1000);
  EXPECT_EQ(change.trimmed_bytes, 5000);
}

TEST(Governor, BindsZeroAndRestoresTheLibraryDefaultOnUnset) {
  FakeMlx mlx;
  Governor governor(mlx);
  EXPECT_EQ(governor.set_cache_limit(bytes(0)).in_force_bytes, 0);
  EXPECT_EQ(governor.set_cache_limit(mode(Mode::kUnlimited)).in_force_bytes, std::nullopt);
  EXPECT_EQ(governor.set_cache_limit(mode(Mode::kUnset)).in_force_bytes, 33554432);
  EXPECT_EQ(mlx.limit, 33554432u);
}

TEST(Governor, AppliesWhatAutoCameTo) {
  FakeMlx mlx;
  Governor governor(mlx);
  Setting automatic = mode(Mode::kAuto);
  automatic.effective_bytes = 33554432;
  EXPECT_EQ(governor.set_cache_limit(automatic).in_force_bytes, 33554432);
  automatic.effective_bytes.reset();
  EXPECT_EQ(governor.set_cache_limit(automatic).in_force_bytes, std::nullopt);
}

TEST(Governor, ReadsBackWhatIsInForceNotWhatWasAsked) {
  FakeMlx mlx;
  mlx.dead = true;
  Governor governor(mlx);
  EXPECT_EQ(governor.set_cache_limit(bytes(1000)).in_force_bytes, 33554432);
}

TEST(Governor, RemembersTheLargestRetainedSampleUntilReset) {
  FakeMlx mlx;
  Governor governor(mlx);
  mlx.cache = 700;
  (void)governor.sample();
  mlx.cache = 300;
  EXPECT_EQ(governor.sample().retained_peak_bytes, 700);
  governor.reset_peaks();
  EXPECT_EQ(governor.sample().retained_peak_bytes, 300);
}

TEST(Governor, RefusesOtherThreads) {
  FakeMlx mlx;
  Governor governor(mlx);
  std::thread other([&] { EXPECT_THROW(governor.trim(), Failure); });
  other.join();
}

TEST(RequireEnforceable, RefusesAByteMemoryLimitThatMlxWouldNotKeep) {
  limits::Resolved resolved;
  EXPECT_TRUE(require_enforceable(resolved, wire::Allocator::kMlx));
  resolved.memory_limit = bytes(1 << 30);
  resolved.memory_limit.source = "--memory-limit";
  const auto refused = require_enforceable(resolved, wire::Allocator::kMlx);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(refused.error().where, "--memory-limit");
  EXPECT_NE(refused.error().message.find("--allocator weir"), std::string::npos);
  EXPECT_TRUE(require_enforceable(resolved, wire::Allocator::kWeir));
  EXPECT_TRUE(require_enforceable(resolved, wire::Allocator::kMlxPolicy));
}

TEST(Governor, WithMlxsOwnAllocatorKeepsNoHardCapAndStaysWithIt) {
  FakeMlx mlx;
  Governor governor(mlx);
  EXPECT_EQ(governor.allocator(), wire::Allocator::kMlx);
  EXPECT_EQ(governor.set_memory_limit(bytes(1 << 30)).error().kind, ErrorKind::kUsage);
  EXPECT_TRUE(governor.set_memory_limit(mode(Mode::kUnset)));
  EXPECT_TRUE(governor.set_allocator(wire::Allocator::kMlx));
  EXPECT_EQ(governor.set_allocator(wire::Allocator::kWeir).error().kind, ErrorKind::kUsage);
}

/// The Governor over a pool of its own.
class PoolGovernorTest : public testing::Test {
 protected:
  void open(const wire::AgentSettings& settings) {
    over_ = value_or_throw(OverPool::open(settings, page_, 1'000'000'000'000));
    governor_ = std::make_unique<Governor>(*over_);
  }
  ~PoolGovernorTest() override {
    over_.reset();
    wire::leave_page(page_.load());
  }

  PageSlot page_{wire::make_page("", {}, nullptr)};
  std::unique_ptr<OverPool> over_;
  std::unique_ptr<Governor> governor_;
};

TEST_F(PoolGovernorTest, SetsReadsBackAndRestoresTheCacheLimit) {
  wire::AgentSettings settings;
  settings.allocator = wire::Allocator::kMlxPolicy;
  open(settings);
  over_->allocator.free(over_->allocator.malloc(1 << 20));
  const LimitChange change = governor_->set_cache_limit(bytes(1000));
  EXPECT_EQ(change.previous_bytes, 33554432);
  EXPECT_EQ(change.in_force_bytes, 1000);
  EXPECT_GE(change.trimmed_bytes, 1 << 20);
  EXPECT_EQ(governor_->set_cache_limit(mode(Mode::kUnlimited)).in_force_bytes, std::nullopt);
  EXPECT_EQ(governor_->set_cache_limit(mode(Mode::kUnset)).in_force_bytes, 33554432);
  Setting words = mode(Mode::kAuto);
  words.unset_text = "follows demand";
  EXPECT_EQ(governor_->set_cache_limit(words).in_force_bytes, 33554432) << "a default that is no number";
}

TEST_F(PoolGovernorTest, CannotLoosenWhatASurroundingRunAsksFor) {
  wire::AgentSettings settings;
  settings.cache_unset = false;
  settings.cache_limit = 5000;
  settings.memory_limit = 64 << 20;
  open(settings);
  EXPECT_EQ(governor_->set_cache_limit(bytes(9000)).in_force_bytes, 5000);
  EXPECT_EQ(governor_->set_cache_limit(bytes(3000)).in_force_bytes, 3000);
  EXPECT_EQ(governor_->set_memory_limit(bytes(1 << 30))->in_force_bytes, 64 << 20);
  EXPECT_EQ(governor_->set_memory_limit(bytes(32 << 20))->in_force_bytes, 32 << 20);
  EXPECT_EQ(governor_->set_memory_limit(mode(Mode::kUnset))->in_force_bytes, 64 << 20);
}

TEST_F(PoolGovernorTest, TheHardCapRefusesAndTheNextRequestWorks) {
  open({});
  EXPECT_EQ(governor_->set_memory_limit(bytes(32 << 20))->previous_bytes, std::nullopt);
  pool::set_this_thread_kind(pool::ThreadKind::kCaller);
  EXPECT_THROW((void)over_->allocator.malloc(64 << 20), pool::OverLimit);
  over_->allocator.free(over_->allocator.malloc(8 << 20));
  EXPECT_EQ(governor_->sample().live_bytes, 0);
}

TEST_F(PoolGovernorTest, SwitchesBetweenThePoolsPoliciesAndNeverToMlx) {
  open({});
  EXPECT_EQ(governor_->allocator(), wire::Allocator::kWeir);
  EXPECT_TRUE(governor_->set_allocator(wire::Allocator::kMlxPolicy));
  EXPECT_EQ(governor_->allocator(), wire::Allocator::kMlxPolicy);
  EXPECT_EQ(governor_->cache_limit_bytes(), 33554432);
  EXPECT_EQ(governor_->set_allocator(wire::Allocator::kMlx).error().kind, ErrorKind::kUsage);
}

TEST_F(PoolGovernorTest, TrimsAndSamplesThePool) {
  wire::AgentSettings settings;
  settings.allocator = wire::Allocator::kMlxPolicy;
  open(settings);
  const auto held = over_->allocator.malloc(1000);
  over_->allocator.free(over_->allocator.malloc(1 << 20));
  const Counters counters = governor_->sample();
  EXPECT_EQ(counters.live_bytes, 1000);
  EXPECT_EQ(counters.retained_peak_bytes, counters.retained_bytes);
  EXPECT_GE(counters.live_peak_bytes, 1 << 20);
  EXPECT_EQ(governor_->trim(), counters.retained_bytes);
  governor_->reset_peaks();
  EXPECT_EQ(governor_->sample().retained_peak_bytes, 0);
  over_->allocator.free(held);
}

}  // namespace
}  // namespace weir::govern
