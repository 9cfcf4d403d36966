#include <gtest/gtest.h>

#include "place/lifetimes.h"

namespace weir::place {
namespace {

TEST(Lifetimes, ANewSizeIsLongLived) {
  const Lifetimes lifetimes;
  EXPECT_FALSE(lifetimes.is_short(1));
  EXPECT_FALSE(lifetimes.is_short(~Page{0}));
}

TEST(Lifetimes, ASizeThatEndsSoonIsShortLived) {
  Lifetimes lifetimes;
  lifetimes.granted(100);
  lifetimes.ended(100, Lifetimes::kShort);
  EXPECT_TRUE(lifetimes.is_short(100));
}

TEST(Lifetimes, ASizeThatEndsLateStaysLongLived) {
  Lifetimes lifetimes;
  lifetimes.granted(100);
  lifetimes.ended(100, Lifetimes::kShort + 1);
  EXPECT_FALSE(lifetimes.is_short(100));
}

TEST(Lifetimes, BlocksThatStayOutweighFewThatDoNot) {
  Lifetimes lifetimes;
  for (int i = 0; i < 10; ++i)
    lifetimes.granted(100);
  for (int i = 0; i < 4; ++i)
    lifetimes.ended(100, 1);
  EXPECT_FALSE(lifetimes.is_short(100));
  lifetimes.ended(100, 1);
  EXPECT_TRUE(lifetimes.is_short(100));
}

TEST(Lifetimes, WhatASizeIsForMayChange) {
  Lifetimes lifetimes;
  for (int i = 0; i < 1000; ++i)
    lifetimes.granted(100);
  for (int i = 0; i < 40; ++i) {
    lifetimes.granted(100);
    lifetimes.ended(100, 1);
  }
  EXPECT_TRUE(lifetimes.is_short(100));
  for (int i = 0; i < 40; ++i)
    lifetimes.granted(100);
  EXPECT_FALSE(lifetimes.is_short(100));
}

TEST(Lifetimes, SizesAQuarterApartAreLearnedApart) {
  Lifetimes lifetimes;
  lifetimes.granted(1000);
  lifetimes.ended(1000, 1);
  EXPECT_TRUE(lifetimes.is_short(1001));
  EXPECT_FALSE(lifetimes.is_short(1250));
  EXPECT_FALSE(lifetimes.is_short(2000));
}

}  // namespace
}  // namespace weir::place
