#include "place/checked_placement.h"

#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

namespace weir::place {

Grant CheckedPlacement::grant(std::uint64_t bytes, Tick now, std::uint64_t most_backed) {
  actions_.clear();
  const Totals before = placement_.totals();
  const Grant grant = placement_.grant(bytes, now, most_backed, actions_);
  const Totals after = placement_.totals();
  if (grant.placed != Placed::kGranted) {
    EXPECT_TRUE(actions_.empty());
    EXPECT_EQ(after.granted, before.granted);
    EXPECT_EQ(after.backed, before.backed);
    return grant;
  }
  follow();
  check_new_block(grant.offset, bytes);
  live_[grant.offset] = bytes;
  live_bytes_ += bytes;
  EXPECT_LE(after.backed, std::max(most_backed, before.backed));
  if (after.backed > before.backed) {
    EXPECT_EQ(after.retained, 0u);
  }
  return grant;
}

Offset CheckedPlacement::offset_of(std::uint64_t bytes, Tick now) {
  const Grant got = grant(bytes, now);
  EXPECT_EQ(got.placed, Placed::kGranted);
  return got.offset;
}

void CheckedPlacement::check_new_block(Offset offset, std::uint64_t bytes) const {
  ASSERT_EQ(offset % (bytes < kSmallBytes ? kAlignment : kPageBytes), 0u);
  const Offset end = offset + std::max<std::uint64_t>(bytes, 1);
  const auto next = live_.lower_bound(offset);
  if (next != live_.end()) {
    ASSERT_LE(end, next->first);
  }
  if (next != live_.begin()) {
    const auto& [start, length] = *std::prev(next);
    ASSERT_LE(start + std::max<std::uint64_t>(length, 1), offset);
  }
  for (auto granule = static_cast<Granule>(offset / kGranuleBytes); granule * kGranuleBytes < end; ++granule)
    ASSERT_EQ(backed_.count(granule), 1u) << granule;
}

void CheckedPlacement::free(Offset offset, Tick now) {
  const auto block = live_.find(offset);
  ASSERT_NE(block, live_.end());
  ASSERT_EQ(placement_.size_of(offset), block->second);
  ASSERT_EQ(placement_.free(offset, now), block->second);
  ASSERT_EQ(placement_.size_of(offset), std::nullopt);
  live_bytes_ -= block->second;
  live_.erase(block);
}

void CheckedPlacement::shrink(std::uint64_t most_retained) {
  actions_.clear();
  placement_.shrink(most_retained, actions_);
  follow();
  EXPECT_LE(placement_.totals().retained, most_retained);
}

void CheckedPlacement::shrink_older(Tick before) {
  actions_.clear();
  placement_.shrink_older(before, actions_);
  follow();
}

void CheckedPlacement::check_totals() const {
  const Totals totals = placement_.totals();
  ASSERT_EQ(totals.granted, live_bytes_);
  ASSERT_EQ(totals.granted + totals.retained + totals.padding, totals.backed);
  ASSERT_EQ(totals.backed, backed_.size() * kGranuleBytes);
}

void CheckedPlacement::follow() {
  for (const Action& action : actions_) {
    for (Granule i = 0; i < action.count; ++i) {
      if (action.kind == Action::Kind::kReturn) {
        ASSERT_EQ(backed_.erase(action.granule + i), 1u);
        continue;
      }
      if (action.kind == Action::Kind::kMove) {
        ASSERT_EQ(backed_.erase(action.from + i), 1u);
      }
      ASSERT_TRUE(backed_.insert(action.granule + i).second);
    }
  }
}

}  // namespace weir::place
