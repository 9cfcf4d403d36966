#include <new>
#include <random>

#include <gtest/gtest.h>

#include "place/failing_allocations.h"
#include "place/placement.h"

// Each allocation of the books fails in turn.

namespace weir::place {
namespace {

/// Grants with each allocation failing in turn until one grant works; how often none did.
int granted_at_last(Placement& placement, std::uint64_t bytes, Offset& offset) {
  std::vector<Action> actions;
  const Totals before = placement.totals();
  for (int failures = 0;; ++failures) {
    try {
      allocations_left = failures;
      offset = placement.grant(bytes, 0, kNoBound, actions).offset;
      allocations_left = -1;
      return failures;
    } catch (const std::bad_alloc&) {
      allocations_left = -1;
      EXPECT_TRUE(actions.empty());
      EXPECT_EQ(placement.totals().granted, before.granted);
      EXPECT_EQ(placement.totals().backed, before.backed);
    }
  }
}

TEST(PlacementWithoutMemory, AFailedGrantChangesNothingAndTheNextOneWorks) {
  std::mt19937_64 random(3);
  Placement placement(Options{});
  placement.add_range(0, 20'000);
  std::vector<Offset> blocks;
  int failures = 0;
  for (int i = 0; i < 5000; ++i) {
    Offset offset = 0;
    failures += granted_at_last(placement, random() % (std::uint64_t{1} << (6 + random() % 20)), offset);
    blocks.push_back(offset);
    while (blocks.size() > 200 + random() % 300) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      placement.free(blocks.back(), 0);
      blocks.pop_back();
    }
    if (i % 100 == 0) placement.check_laws();
  }
  EXPECT_GT(failures, 100);
}

TEST(PlacementWithoutMemory, AFailedShrinkChangesNothing) {
  Placement placement(Options{});
  placement.add_range(0, 100);
  std::vector<Action> actions;
  Offset blocks[9];
  for (Offset& block : blocks)
    block = placement.grant(kGranuleBytes, 0, kNoBound, actions).offset;
  for (int i = 1; i < 9; i += 2)
    placement.free(blocks[i], 0);
  std::vector<Action> returned;
  allocations_left = 1;
  EXPECT_THROW(placement.shrink(0, returned), std::bad_alloc);
  allocations_left = -1;
  EXPECT_TRUE(returned.empty());
  EXPECT_EQ(placement.totals().retained, 4 * kGranuleBytes);
  placement.check_laws();
}

TEST(PlacementWithoutMemory, AFreeNeedsNone) {
  std::mt19937_64 random(4);
  Placement placement(Options{});
  placement.add_range(0, 20'000);
  std::vector<Offset> blocks;
  std::vector<Action> actions;
  for (int i = 0; i < 5000; ++i)
    blocks.push_back(
        placement.grant(random() % (std::uint64_t{1} << (6 + random() % 20)), 0, kNoBound, actions).offset);
  for (const Offset block : blocks) {
    allocations_left = 0;
    EXPECT_NO_THROW(placement.free(block, 1));
    allocations_left = -1;
  }
  placement.check_laws();
  EXPECT_EQ(placement.totals().granted, 0u);
}

}  // namespace
}  // namespace weir::place
