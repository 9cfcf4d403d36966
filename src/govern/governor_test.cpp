#include "govern/governor.h"

#include <thread>

#include <gtest/gtest.h>

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

TEST(RequireEnforceable, RefusesAByteMemoryLimitUntilThePoolExists) {
  limits::Resolved resolved;
  EXPECT_TRUE(require_enforceable(resolved));
  resolved.memory_limit = bytes(1 << 30);
  resolved.memory_limit.source = "--memory-limit";
  const auto refused = require_enforceable(resolved);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(refused.error().where, "--memory-limit");
}

}  // namespace
}  // namespace weir::govern
