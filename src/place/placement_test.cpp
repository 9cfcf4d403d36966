#include <random>

#include <gtest/gtest.h>

#include "base/error.h"
#include "place/checked_placement.h"

namespace weir::place {
namespace {

using Kind = Action::Kind;
using Actions = std::vector<Action>;
constexpr std::uint64_t kG = kGranuleBytes;

class PlacementTest : public testing::Test {
 protected:
  PlacementTest() { placement_->add_range(0, 1000); }
  ~PlacementTest() override {
    placement_.check_totals();
    placement_->check_laws();
  }

  CheckedPlacement placement_;
};

TEST_F(PlacementTest, BacksWhatABlockNeedsAndCountsItsPadding) {
  const Grant grant = placement_.grant(3 * kG + 1);
  EXPECT_EQ(grant.new_granules, 4u);
  EXPECT_EQ(placement_.actions(), (Actions{{Kind::kBack, 0, 4}}));
  EXPECT_EQ(placement_->totals(), (Totals{3 * kG + 1, 0, kG - 1, 4 * kG}));
}

TEST_F(PlacementTest, FreeGranulesAreRetainedAndUsedAgain) {
  placement_.free(placement_.offset_of(4 * kG), 1);
  EXPECT_EQ(placement_->totals(), (Totals{0, 4 * kG, 0, 4 * kG}));
  EXPECT_EQ(placement_.grant(4 * kG).new_granules, 0u);
  EXPECT_EQ(placement_->totals(), (Totals{4 * kG, 0, 0, 4 * kG}));
}

TEST_F(PlacementTest, ABlockThatComesBackFindsItsGranulesInPlace) {
  placement_.free(placement_.offset_of(4 * kG));
  placement_.free(placement_.offset_of(4 * kG));
  placement_.offset_of(4 * kG);
  EXPECT_TRUE(placement_.actions().empty());
}

TEST_F(PlacementTest, AGranuleThatABlockPinsIsPaddingNotRetained) {
  const Offset first = placement_.offset_of(kG / 2);
  placement_.offset_of(kG / 2);
  placement_.free(first);
  EXPECT_EQ(placement_->totals(), (Totals{kG / 2, 0, kG / 2, kG}));
}

TEST_F(PlacementTest, ZeroBytesIsABlockOfItsOwn) {
  const Offset first = placement_.offset_of(0);
  const Offset second = placement_.offset_of(0);
  EXPECT_NE(first, second);
  EXPECT_EQ(placement_->size_of(first), 0u);
  placement_.free(first);
  EXPECT_EQ(placement_->size_of(first), std::nullopt);
  placement_.free(second);
}

TEST_F(PlacementTest, OnlyAStartOfABlockIsOne) {
  const Offset large = placement_.offset_of(2 * kG);
  const Offset small = placement_.offset_of(1000);
  EXPECT_EQ(placement_->size_of(large + kPageBytes), std::nullopt);
  EXPECT_EQ(placement_->size_of(large + kAlignment), std::nullopt);
  EXPECT_EQ(placement_->size_of(small + kAlignment), std::nullopt);
  EXPECT_EQ(placement_->size_of(small + 1024), std::nullopt);
  EXPECT_EQ(placement_->size_of(900 * kG), std::nullopt);
  EXPECT_EQ(placement_->size_of(~Offset{0}), std::nullopt);
  EXPECT_THROW(placement_->free(large + kPageBytes, 0), Failure);
  EXPECT_THROW(placement_->free(small + 1024, 0), Failure);
}

TEST_F(PlacementTest, WhatIsTooLargeHasNoAddress) {
  EXPECT_EQ(placement_.grant(1000 * kG + 1).placed, Placed::kNoAddress);
  EXPECT_EQ(placement_.grant(std::uint64_t{1} << 46).placed, Placed::kNoAddress);
  EXPECT_EQ(placement_.grant((std::uint64_t{1} << 46) + 1).placed, Placed::kNoAddress);
  EXPECT_EQ(placement_.grant(~std::uint64_t{0}).placed, Placed::kNoAddress);
  EXPECT_EQ(placement_.grant(1000 * kG).placed, Placed::kGranted);
  EXPECT_EQ(placement_.grant(1).placed, Placed::kNoAddress);
}

TEST_F(PlacementTest, EmptySlabsMakeRoomForAnAddress) {
  placement_.free(placement_.offset_of(100));
  EXPECT_EQ(placement_.grant(1000 * kG).placed, Placed::kGranted);
}

TEST(PlacementRanges, ANewRangeIsUsedOnceTheOldIsFull) {
  CheckedPlacement placement;
  EXPECT_EQ(placement.grant(1).placed, Placed::kNoAddress);
  placement->add_range(10, 2);
  placement.offset_of(2 * kG);
  EXPECT_EQ(placement.grant(2 * kG).placed, Placed::kNoAddress);
  placement->add_range(12, 2);
  EXPECT_EQ(placement.offset_of(2 * kG), 12 * kG);
  placement.check_totals();
  placement->check_laws();
}

TEST(PlacementRanges, ARangeGoesOnceItHoldsNoBlockAndNoBackedGranule) {
  CheckedPlacement placement;
  placement->add_range(10, 2);
  placement->add_range(12, 2);
  const Offset block = placement.offset_of(100);
  const Granule used = block < 12 * kG ? 10 : 12;
  EXPECT_FALSE(placement->remove_range(used));
  placement.free(block);
  EXPECT_FALSE(placement->remove_range(used));
  placement.shrink(0);
  EXPECT_TRUE(placement->remove_range(used));
  EXPECT_FALSE(placement->remove_range(used));
  EXPECT_EQ(placement.grant(4 * kG).placed, Placed::kNoAddress);
  placement->check_laws();
}

TEST(PlacementRanges, ARangeWithARetainedGranuleStays) {
  CheckedPlacement placement;
  placement->add_range(10, 2);
  placement.free(placement.offset_of(kG));
  EXPECT_FALSE(placement->remove_range(10));
  placement.shrink(0);
  EXPECT_TRUE(placement->remove_range(10));
}

TEST_F(PlacementTest, ShrinkReturnsOldestFirstAndEmptySlabsAtZero) {
  const Offset pages[] = {placement_.offset_of(kG), placement_.offset_of(kG), placement_.offset_of(kG)};
  placement_.free(placement_.offset_of(100), 1);
  placement_.free(pages[1], 5);
  placement_.free(pages[0], 6);
  placement_.free(pages[2], 7);
  placement_.shrink(2 * kG);
  EXPECT_EQ(placement_.actions(), (Actions{{Kind::kReturn, static_cast<Granule>(pages[1] / kG), 1}}));
  EXPECT_EQ(placement_->totals().padding, kG);
  placement_.shrink(0);
  EXPECT_EQ(placement_->totals(), Totals{});
}

TEST_F(PlacementTest, AgeingReturnsOnlyWhatIsOlder) {
  const Offset first = placement_.offset_of(kG);
  const Offset second = placement_.offset_of(kG);
  placement_.free(first, 10);
  placement_.free(second, 20);
  placement_.shrink_older(10);
  EXPECT_TRUE(placement_.actions().empty());
  placement_.shrink_older(11);
  EXPECT_EQ(placement_.actions(), (Actions{{Kind::kReturn, static_cast<Granule>(first / kG), 1}}));
  placement_.shrink_older(21);
  EXPECT_EQ(placement_->totals(), Totals{});
}

TEST_F(PlacementTest, AgeingReturnsEmptySlabsToo) {
  placement_.free(placement_.offset_of(100), 10);
  placement_.shrink_older(10);
  EXPECT_EQ(placement_->totals().padding, kG);
  placement_.shrink_older(11);
  EXPECT_EQ(placement_->totals(), Totals{});
}

TEST_F(PlacementTest, SameCallsSameAnswers) {
  CheckedPlacement twin;
  twin->add_range(0, 1000);
  std::mt19937_64 random(5);
  std::vector<Offset> blocks;
  for (int i = 0; i < 20'000; ++i) {
    if (blocks.size() < 300 && random() % 2 == 0) {
      const std::uint64_t bytes = random() % (std::uint64_t{1} << (8 + random() % 15));
      const Grant here = placement_.grant(bytes, i);
      const Grant there = twin.grant(bytes, i);
      ASSERT_EQ(here.offset, there.offset);
      ASSERT_EQ(placement_.actions(), twin.actions());
      blocks.push_back(here.offset);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      placement_.free(blocks.back(), i);
      twin.free(blocks.back(), i);
      blocks.pop_back();
    }
  }
  EXPECT_EQ(placement_->totals(), twin->totals());
}

}  // namespace
}  // namespace weir::place
