#include <algorithm>
#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "place/checked_placement.h"

namespace weir::place {
namespace {

struct Mix {
  const char* name;
  double small;  ///< Share of blocks below kSmallBytes.
  std::uint64_t largest;
  std::uint64_t most_live;
  std::uint64_t most_backed;
  bool move;
};

std::uint64_t drawn_size(std::mt19937_64& random, const Mix& mix) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  if (u < mix.small) return random() % 4 == 0 ? random() % 256 : random() % kSmallBytes;
  const auto octaves = static_cast<std::uint64_t>(std::bit_width(mix.largest / kSmallBytes));
  const std::uint64_t top = kSmallBytes << random() % octaves;
  return std::max(kSmallBytes, std::min(mix.largest, top + random() % top));
}

class PlacementLaws : public testing::TestWithParam<Mix> {
 protected:
  void event(Tick now) {
    if (placement_.live_bytes() < GetParam().most_live && (blocks_.empty() || random_() % 16 < 9)) {
      const Grant grant = placement_.grant(drawn_size(random_, GetParam()), now, GetParam().most_backed);
      ASSERT_NE(grant.placed, Placed::kNoAddress);
      refused_ += grant.placed == Placed::kOverBound;
      if (grant.placed == Placed::kGranted) blocks_.push_back(grant.offset);
    } else if (!blocks_.empty()) {
      std::swap(blocks_[random_() % blocks_.size()], blocks_.back());
      placement_.free(blocks_.back(), now);
      blocks_.pop_back();
    }
    if (random_() % 500 == 0) placement_.shrink(random_() % 3 == 0 ? 0 : random_() % (64 << 20));
    if (random_() % 500 == 0) placement_.shrink_older(now - std::min<Tick>(now, 20));
  }

  std::mt19937_64 random_{7};
  CheckedPlacement placement_{Options{GetParam().move, 1 << 20}};
  std::vector<Offset> blocks_;
  int refused_ = 0;
};

TEST_P(PlacementLaws, HoldUnderRandomTraces) {
  placement_->add_range(3, 2000);
  placement_->add_range(2003, 3000);
  for (int i = 0; i < 100'000 && !HasFatalFailure(); ++i) {
    event(static_cast<Tick>(i / 10));
    placement_.check_totals();
    if (i % 1000 == 0) placement_->check_laws();
  }
  EXPECT_EQ(refused_ > 0, GetParam().most_backed != kNoBound);
  for (const Offset offset : blocks_)
    placement_.free(offset, 10'000);
  placement_.shrink(0);
  EXPECT_EQ(placement_->totals(), Totals{});
  EXPECT_TRUE(placement_.backed().empty());
  placement_->check_laws();
  EXPECT_TRUE(placement_->remove_range(3));
  EXPECT_TRUE(placement_->remove_range(2003));
}

INSTANTIATE_TEST_SUITE_P(Mixes, PlacementLaws,
                         testing::Values(Mix{"Small", 1.0, kSmallBytes, 20ULL << 20, kNoBound, true},
                                         Mix{"Huge", 0.0, 256ULL << 20, 2ULL << 30, kNoBound, true},
                                         Mix{"Mixed", 0.6, 32ULL << 20, 400ULL << 20, kNoBound, true},
                                         Mix{"Bounded", 0.6, 32ULL << 20, 400ULL << 20, 300ULL << 20, true},
                                         Mix{"WithoutMoves", 0.3, 32ULL << 20, 400ULL << 20, 300ULL << 20,
                                             false}),
                         [](const auto& mix) { return mix.param.name; });

}  // namespace
}  // namespace weir::place
