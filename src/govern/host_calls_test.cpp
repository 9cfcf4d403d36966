#include "govern/host_calls.h"

#include <limits>

#include <gtest/gtest.h>

#include "govern/over_pool.h"
#include "wire/page_file.h"

namespace weir::govern {
namespace {

constexpr std::uint64_t kMiB = 1ULL << 20;
constexpr std::uint64_t kMlxDefault = 32 * kMiB;
constexpr std::uint64_t kMemoryDefault = 1'000'000'000'000;

/// A governed process without a process around it.
class HostCallsTest : public testing::Test {
 protected:
  void open(const wire::AgentSettings& settings) {
    page_ = wire::make_page("", {}, nullptr);
    over_ = value_or_throw(OverPool::open(settings, page_, kMemoryDefault));
  }
  ~HostCallsTest() override {
    over_.reset();
    wire::leave_page(page_.load());
  }
  HostCalls& host() { return over_->calls; }
  [[nodiscard]] std::uint64_t in_force() const { return over_->pool->cache_limit(); }

  PageSlot page_{nullptr};
  std::unique_ptr<OverPool> over_;
};

wire::AgentSettings settings(wire::Allocator allocator, std::optional<std::uint64_t> cache = std::nullopt) {
  wire::AgentSettings wanted;
  wanted.allocator = allocator;
  wanted.cache_unset = !cache;
  wanted.cache_limit = cache.value_or(wire::kNoLimit);
  return wanted;
}

TEST(BoundInForce, IsTheSmallerOrWeirsAloneWhereEnforced) {
  EXPECT_EQ(bound_in_force(std::nullopt, std::nullopt, false), std::nullopt);
  EXPECT_EQ(bound_in_force(5, std::nullopt, false), 5u);
  EXPECT_EQ(bound_in_force(std::nullopt, 7, true), 7u) << "nothing of weir's to enforce";
  EXPECT_EQ(bound_in_force(5, 7, false), 5u);
  EXPECT_EQ(bound_in_force(7, 5, false), 5u);
  EXPECT_EQ(bound_in_force(7, 5, true), 7u);
}

TEST_F(HostCallsTest, AHostThatOnlyTightensIsObeyedAndOneThatLoosensIsNot) {
  open(settings(wire::Allocator::kMlxPolicy, 64 * kMiB));
  EXPECT_EQ(host().set_cache_limit(10 * kMiB), 64 * kMiB);
  EXPECT_EQ(in_force(), 10 * kMiB);
  EXPECT_EQ(host().set_cache_limit(500 * kMiB), 10 * kMiB);
  EXPECT_EQ(in_force(), 64 * kMiB);
  EXPECT_EQ(host().set_cache_limit(0), 500 * kMiB) << "it reads what it set, as with MLX";
  EXPECT_EQ(in_force(), 0u);
  EXPECT_EQ(page_.load()->host_limits, 3u);
}

TEST_F(HostCallsTest, UnderEnforceWeirsLimitStays) {
  auto wanted = settings(wire::Allocator::kMlxPolicy, 64 * kMiB);
  wanted.enforce = true;
  open(wanted);
  EXPECT_EQ(host().set_cache_limit(10), 64 * kMiB);
  EXPECT_EQ(in_force(), 64 * kMiB);
  EXPECT_EQ(host().set_cache_limit(20), 10u);
}

TEST_F(HostCallsTest, PuttingBackWhatItWasToldRestoresEveryState) {
  for (const auto allocator : {wire::Allocator::kMlxPolicy, wire::Allocator::kWeir}) {
    for (const auto cache : {std::optional<std::uint64_t>(), std::optional(64 * kMiB),
                             std::optional(wire::kNoLimit), std::optional<std::uint64_t>(0)}) {
      open(settings(allocator, cache));
      const std::uint64_t before = in_force();
      const std::size_t told = host().set_cache_limit(5);
      EXPECT_LE(told, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
      EXPECT_EQ(in_force(), std::min<std::uint64_t>(5, before));
      host().set_cache_limit(told);
      EXPECT_EQ(in_force(), before);
    }
  }
}

TEST_F(HostCallsTest, WithoutAWishOfWeirsMlxPolicyTellsMlxsDefault) {
  open(settings(wire::Allocator::kMlxPolicy));
  EXPECT_EQ(host().set_cache_limit(1), kMlxDefault);
}

TEST_F(HostCallsTest, TheHostsMemoryLimitIsKeptAndRefusesNothing) {
  open(settings(wire::Allocator::kWeir));
  EXPECT_EQ(host().memory_limit(), kMemoryDefault);
  EXPECT_EQ(host().set_memory_limit(1000), kMemoryDefault);
  EXPECT_EQ(host().memory_limit(), 1000u);
  const auto buffer = over_->allocator.malloc(kMiB);
  EXPECT_EQ(host().active_memory(), over_->allocator.size(buffer));
  over_->allocator.free(buffer);
  EXPECT_EQ(host().set_memory_limit(kMemoryDefault), 1000u);
}

TEST_F(HostCallsTest, MlxIsToldToWaitASixteenthBelowTheHardCap) {
  auto wanted = settings(wire::Allocator::kWeir);
  wanted.memory_limit = 160 * kMiB;
  open(wanted);
  EXPECT_EQ(host().memory_limit(), 150 * kMiB);
  host().set_memory_limit(100 * kMiB);
  EXPECT_EQ(host().memory_limit(), 100 * kMiB);
  host().set_memory_limit(kMemoryDefault);
  EXPECT_EQ(host().memory_limit(), 150 * kMiB);
  EXPECT_EQ(over_->pool->memory_limit(), 160 * kMiB);
}

TEST_F(HostCallsTest, TheHostsPeakStartsAnewWithoutTouchingThePages) {
  open(settings(wire::Allocator::kWeir));
  const auto large = over_->allocator.malloc(4 * kMiB);
  over_->allocator.free(large);
  EXPECT_GE(host().peak_memory(), 4 * kMiB);
  host().reset_peak_memory();
  EXPECT_EQ(host().peak_memory(), 0u) << "as in MLX";
  const auto small = over_->allocator.malloc(1000);
  EXPECT_EQ(host().peak_memory(), host().active_memory());
  over_->allocator.free(small);
  EXPECT_GE(page_.load()->live_peak, 4 * kMiB);
}

TEST_F(HostCallsTest, MlxPolicyAlwaysHonoursAClear) {
  open(settings(wire::Allocator::kMlxPolicy));
  over_->allocator.free(over_->allocator.malloc(4 * kMiB));
  EXPECT_GE(host().cache_memory(), 4 * kMiB);
  host().clear_cache();
  EXPECT_EQ(host().cache_memory(), 0u);
  EXPECT_EQ(page_.load()->host_clears, 1u);
}

TEST_F(HostCallsTest, WeirTakesAClearAsAHintUnlessItMustHonourIt) {
  open(settings(wire::Allocator::kWeir, wire::kNoLimit));
  over_->allocator.free(over_->allocator.malloc(8 * kMiB));
  const std::size_t fresh = host().cache_memory();
  ASSERT_GE(fresh, 4 * kMiB);
  host().clear_cache();
  EXPECT_EQ(host().cache_memory(), fresh) << "freed a moment ago";
  auto honour = settings(wire::Allocator::kWeir, wire::kNoLimit);
  honour.host_clear = wire::HostClear::kHonour;
  open(honour);
  over_->allocator.free(over_->allocator.malloc(8 * kMiB));
  host().clear_cache();
  EXPECT_EQ(host().cache_memory(), 0u);
}

TEST_F(HostCallsTest, SwitchingThePolicyKeepsTheBoundsAndTellsThePage) {
  open(settings(wire::Allocator::kMlxPolicy));
  host().set_cache_limit(7 * kMiB);
  over_->limits.set_policy(pool::Policy::kWeir);
  EXPECT_EQ(in_force(), 7 * kMiB);
  EXPECT_EQ(page_.load()->allocator, static_cast<std::uint32_t>(wire::Allocator::kWeir));
  over_->limits.set_program_cache_limit(std::nullopt);
  over_->limits.set_policy(pool::Policy::kMlx);
  EXPECT_EQ(in_force(), kMlxDefault) << "the new policy's own default";
}

TEST_F(HostCallsTest, AProcessThatIsReleasedIsBoundNoMore) {
  auto wanted = settings(wire::Allocator::kMlxPolicy, 1000);
  wanted.memory_limit = 160 * kMiB;
  open(wanted);
  over_->limits.release();
  EXPECT_EQ(in_force(), kMlxDefault);
  EXPECT_EQ(over_->pool->memory_limit(), pool::kUnlimited);
  EXPECT_EQ(host().memory_limit(), kMemoryDefault);
}

}  // namespace
}  // namespace weir::govern
