#include <gtest/gtest.h>

#include "place/checked_placement.h"

// What a grant does to granules: bounds, moves, returns.

namespace weir::place {
namespace {

using Kind = Action::Kind;
using Actions = std::vector<Action>;
constexpr std::uint64_t kG = kGranuleBytes;

class PlacementBacking : public testing::Test {
 protected:
  explicit PlacementBacking(const Options& options = {}) : placement_(options) {
    placement_->add_range(0, 1000);
  }
  ~PlacementBacking() override {
    placement_.check_totals();
    placement_->check_laws();
  }
  /// Two free granules between blocks, at granules 1 and 3; 0, 2 and 4 stay held.
  void two_gaps() {
    Offset blocks[5];
    for (Offset& block : blocks)
      block = placement_.offset_of(kG);
    placement_.free(blocks[3], 1);
    placement_.free(blocks[1], 2);
    ASSERT_EQ(placement_->totals().retained, 2 * kG);
  }

  struct Holes {
    std::vector<Offset> tight;  ///< Two whole granules each.
    Offset loose = 0;           ///< Longer by an eighth, of which only one granule is whole.
  };
  /// Holes between blocks, all free granules returned.
  Holes unbacked_holes(int tight) {
    Holes holes;
    for (int i = 0; i < tight; ++i) {
      holes.tight.push_back(placement_.offset_of(2 * kG));
      placement_.offset_of(2 * kG);
    }
    placement_.offset_of(3 * kG / 4);
    holes.loose = placement_.offset_of(2 * kG + kG / 8);
    placement_.offset_of(kG / 8);
    for (const Offset block : holes.tight)
      placement_.free(block);
    placement_.free(holes.loose);
    placement_.shrink(0);
    return holes;
  }

  CheckedPlacement placement_;
};

TEST_F(PlacementBacking, ABoundOneGranuleShortRefusesTheExactOnePasses) {
  placement_.offset_of(3 * kG);
  const Grant refused = placement_.grant(2 * kG, 0, 5 * kG - 1);
  EXPECT_EQ(refused.placed, Placed::kOverBound);
  EXPECT_EQ(refused.new_granules, 2u);
  EXPECT_EQ(placement_.grant(2 * kG, 0, 5 * kG).placed, Placed::kGranted);
}

TEST_F(PlacementBacking, ASlabObeysTheBoundToo) {
  EXPECT_EQ(placement_.grant(100, 0, kG - 1).placed, Placed::kOverBound);
  EXPECT_EQ(placement_.grant(100, 0, kG).placed, Placed::kGranted);
  EXPECT_EQ(placement_.grant(100, 0, 0).placed, Placed::kGranted);
}

TEST_F(PlacementBacking, ABlockInAHoleOfAPinnedGranuleNeedsNoBound) {
  placement_.offset_of(kG / 2);
  EXPECT_EQ(placement_.grant(kG / 2, 0, kG).placed, Placed::kGranted);
}

TEST_F(PlacementBacking, FreeGranulesElsewhereMoveUnderTheBlockOldestFirst) {
  two_gaps();
  const Grant grant = placement_.grant(3 * kG, 3);
  const auto at = static_cast<Granule>(grant.offset / kG);
  EXPECT_EQ(grant.new_granules, 1u);
  EXPECT_EQ(placement_.actions(),
            (Actions{{Kind::kMove, at, 1, 3}, {Kind::kMove, at + 1, 1, 1}, {Kind::kBack, at + 2, 1}}));
  EXPECT_EQ(placement_->totals().backed, 6 * kG);
}

TEST_F(PlacementBacking, NeighboursMoveInOneAction) {
  const Offset block = placement_.offset_of(4 * kG);
  placement_.offset_of(kG);
  placement_.free(block);
  const Grant grant = placement_.grant(6 * kG);
  const auto at = static_cast<Granule>(grant.offset / kG);
  EXPECT_EQ(placement_.actions(), (Actions{{Kind::kMove, at, 4, 0}, {Kind::kBack, at + 4, 2}}));
}

TEST_F(PlacementBacking, FreeGranulesCountAgainstTheBoundOnlyAsFarAsTheyAreNeeded) {
  two_gaps();
  EXPECT_EQ(placement_.grant(3 * kG, 3, 6 * kG - 1).placed, Placed::kOverBound);
  EXPECT_EQ(placement_.grant(3 * kG, 3, 6 * kG).placed, Placed::kGranted);
}

TEST_F(PlacementBacking, ALoweredBoundReturnsFreeGranulesBeforeItRefuses) {
  two_gaps();
  EXPECT_EQ(placement_.grant(kG, 3, 4 * kG).placed, Placed::kGranted);
  EXPECT_EQ(placement_->totals().backed, 4 * kG);
  EXPECT_EQ(placement_->totals().retained, 0u);
  EXPECT_EQ(placement_.grant(kG, 3, 4 * kG).placed, Placed::kOverBound);
}

TEST_F(PlacementBacking, AHoleThatHoldsFewerGranulesIsPreferredToATighterOne) {
  const Holes holes = unbacked_holes(1);
  const Grant grant = placement_.grant(kG + kG / 4);
  EXPECT_EQ(grant.offset, holes.loose);
  EXPECT_EQ(grant.new_granules, 1u);
}

TEST_F(PlacementBacking, EveryHoleIsTriedBeforeRefusing) {
  const Holes holes = unbacked_holes(9);
  const std::uint64_t backed = placement_->totals().backed;
  EXPECT_EQ(placement_.grant(kG + kG / 4, 0, backed).placed, Placed::kOverBound);
  EXPECT_EQ(placement_.grant(kG + kG / 4, 0, backed + kG).offset, holes.loose);
}

TEST_F(PlacementBacking, AHoleThatIsStillBackedIsPreferred) {
  Offset blocks[5];
  for (Offset& block : blocks)
    block = placement_.offset_of(kG);
  placement_.free(blocks[1], 1);
  placement_.free(blocks[3], 2);
  placement_.shrink(kG);
  EXPECT_EQ(placement_.offset_of(kG), blocks[3]);
  EXPECT_TRUE(placement_.actions().empty());
}

TEST_F(PlacementBacking, EmptySlabsGoBeforeBackedGrows) {
  placement_.free(placement_.offset_of(100));
  EXPECT_EQ(placement_->totals().padding, kG);
  placement_.offset_of(kG);
  EXPECT_EQ(placement_->totals(), (Totals{kG, 0, 0, kG}));
}

TEST_F(PlacementBacking, EmptySlabsGoBeforeAGrantIsRefused) {
  const Offset large = placement_.offset_of(kG);
  placement_.free(placement_.offset_of(100));
  placement_.free(large);
  EXPECT_EQ(placement_->totals(), (Totals{0, kG, kG, 2 * kG}));
  EXPECT_EQ(placement_.grant(kG, 0, kG).placed, Placed::kGranted);
}

class PlacementWithoutMoves : public PlacementBacking {
 protected:
  PlacementWithoutMoves() : PlacementBacking(Options{false, 0}) {}
};

TEST_F(PlacementWithoutMoves, ReturnsAndBacksInstead) {
  two_gaps();
  const Grant grant = placement_.grant(3 * kG, 3);
  const auto at = static_cast<Granule>(grant.offset / kG);
  EXPECT_EQ(grant.new_granules, 3u);
  EXPECT_EQ(placement_.actions(),
            (Actions{{Kind::kReturn, 3, 1}, {Kind::kReturn, 1, 1}, {Kind::kBack, at, 3}}));
}

class PlacementWithLargeMoves : public PlacementBacking {
 protected:
  PlacementWithLargeMoves() : PlacementBacking(Options{true, 3 * kG}) {}
};

TEST_F(PlacementWithLargeMoves, MovesForLargeBlocksOnly) {
  two_gaps();
  placement_.grant(3 * kG - 1, 3);
  EXPECT_EQ(placement_.actions().front().kind, Kind::kReturn);
}

TEST_F(PlacementWithLargeMoves, MovesFromTheGivenSizeOn) {
  two_gaps();
  placement_.grant(3 * kG, 3);
  EXPECT_EQ(placement_.actions().front().kind, Kind::kMove);
}

}  // namespace
}  // namespace weir::place
