#include <set>

#include <gtest/gtest.h>

#include "place/slab_map.h"

namespace weir::place {
namespace {

/// A span that some owner cut out for a slab of this class.
Span span_at(Page first, std::uint32_t size_class) {
  Span span;
  span.first = first;
  span.pages = SlabMap::pages(size_class);
  span.kind = Span::Kind::kSlab;
  return span;
}

TEST(SlabMap, EverySmallSizeHasATightClass) {
  for (std::uint64_t bytes = 0; bytes < kSmallBytes; ++bytes) {
    const std::uint64_t slot = SlabMap::slot_bytes(SlabMap::class_of(bytes));
    ASSERT_GE(slot, bytes);
    ASSERT_EQ(slot % kAlignment, 0u);
    ASSERT_LE(slot, bytes + std::max<std::uint64_t>(kAlignment, bytes / 8)) << bytes;
  }
}

TEST(SlabMap, ClassesRiseAndSlabsWasteLittle) {
  for (std::uint32_t i = 0; i < SlabMap::class_count(); ++i) {
    if (i > 0) {
      EXPECT_LT(SlabMap::slot_bytes(i - 1), SlabMap::slot_bytes(i));
    }
    const std::uint64_t slab = SlabMap::pages(i) * kPageBytes;
    const std::uint64_t slots = std::min<std::uint64_t>(slab / SlabMap::slot_bytes(i), Slab::kMostSlots);
    EXPECT_LE(slab - slots * SlabMap::slot_bytes(i), slab / 16) << SlabMap::slot_bytes(i);
    EXPECT_LE(slab, kGranuleBytes / 4);
  }
}

TEST(SlabMap, FillsASlabWithDistinctSlotsThatKeepTheirSizes) {
  for (std::uint32_t size_class = 0; size_class < SlabMap::class_count(); ++size_class) {
    SlabMap slabs;
    slabs.reserve(size_class);
    Span span = span_at(7, size_class);
    slabs.add(span, size_class);
    const std::uint64_t least = size_class == 0 ? 0 : SlabMap::slot_bytes(size_class - 1) + 1;
    std::set<Offset> offsets;
    while (slabs.has_room(size_class)) {
      const Offset offset = slabs.take(size_class, least);
      ASSERT_TRUE(offsets.insert(offset).second);
      ASSERT_GE(offset, 7 * kPageBytes);
      ASSERT_LE(offset + SlabMap::slot_bytes(size_class), (7 + span.pages) * kPageBytes);
      slabs.check_laws(*span.slab);
    }
    EXPECT_GE(offsets.size(), 4u);
    EXPECT_EQ(SlabMap::granted_bytes(*span.slab), offsets.size() * least);
    for (const Offset offset : offsets) {
      ASSERT_TRUE(SlabMap::slot_at(span, offset).has_value());
      ASSERT_FALSE(SlabMap::slot_at(span, offset + 1).has_value());
      ASSERT_FALSE(SlabMap::slot_at(span, offset + 32).has_value());
    }
  }
}

TEST(SlabMap, WhatIsBehindTheLastSlotIsNoBlock) {
  for (std::uint32_t size_class = 0; size_class < SlabMap::class_count(); ++size_class) {
    SlabMap slabs;
    slabs.reserve(size_class);
    Span span = span_at(0, size_class);
    slabs.add(span, size_class);
    while (slabs.has_room(size_class))
      static_cast<void>(slabs.take(size_class, 1));
    const Offset end = span.pages * kPageBytes;
    for (Offset offset = span.slab->taken * SlabMap::slot_bytes(size_class); offset < end;
         offset += kAlignment)
      ASSERT_FALSE(SlabMap::slot_at(span, offset).has_value()) << offset;
  }
}

class SlabMapClass : public testing::Test {
 protected:
  /// Takes every slot of one slab more.
  void fill(Span& span) {
    slabs_.reserve(kClass);
    slabs_.add(span, kClass);
    while (slabs_.has_room(kClass))
      static_cast<void>(slabs_.take(kClass, 5000));
  }
  /// Frees all; how often the slab's span was given up.
  int drain(const Span& span, Tick now) {
    int given_up = 0;
    for (std::uint32_t slot = 0, all = span.slab->taken; slot < all; ++slot)
      given_up += slabs_.free(span, slot, now);
    return given_up;
  }

  static constexpr std::uint32_t kClass = 40;
  SlabMap slabs_;
  Span first_ = span_at(0, kClass);
  Span second_ = span_at(1000, kClass);
};

TEST_F(SlabMapClass, KeepsOneEmptySlabAndGivesUpTheNext) {
  fill(first_);
  fill(second_);
  EXPECT_EQ(drain(second_, 1), 0);
  EXPECT_EQ(drain(first_, 2), 1);
  EXPECT_TRUE(slabs_.has_room(kClass));
}

TEST_F(SlabMapClass, DropsAnEmptySlabOnceItIsOldEnough) {
  fill(first_);
  EXPECT_EQ(drain(first_, 10), 0);
  EXPECT_EQ(slabs_.drop_empty(10), nullptr);
  EXPECT_EQ(slabs_.drop_empty(11), &first_);
  EXPECT_EQ(slabs_.drop_empty(kNoBound), nullptr);
  EXPECT_FALSE(slabs_.has_room(kClass));
}

TEST_F(SlabMapClass, FillsSlabsInUseBeforeTheEmptyOne) {
  fill(first_);
  fill(second_);
  drain(first_, 1);
  const Offset freed = second_.first * kPageBytes + 3 * SlabMap::slot_bytes(kClass);
  ASSERT_FALSE(slabs_.free(second_, 3, 2));
  EXPECT_EQ(slabs_.take(kClass, 5000), freed);
}

}  // namespace
}  // namespace weir::place
