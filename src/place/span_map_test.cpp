#include <gtest/gtest.h>

#include "place/span_map.h"

namespace weir::place {
namespace {

constexpr Page kGranule = static_cast<Page>(kPagesPerGranule);

class SpanMapTest : public testing::Test {
 protected:
  Span& take(Page first, Page pages, Span::Kind kind = Span::Kind::kBlock) {
    for (Span& hole : map_.holes()) {
      if (hole.first > first || hole.end() < first + pages) continue;
      map_.reserve(hole, first, pages);
      return map_.take(hole, first, pages, kind);
    }
    ADD_FAILURE() << "no hole at " << first;
    std::terminate();
  }
  std::vector<std::pair<Page, Page>> holes() const {
    std::vector<std::pair<Page, Page>> all;
    for (const Span& hole : map_.holes())
      all.emplace_back(hole.first, hole.pages);
    return all;
  }
  using Holes = std::vector<std::pair<Page, Page>>;

  SpanMap map_;
};

TEST_F(SpanMapTest, SplitsAHoleAtEitherEndAndInside) {
  map_.add_range(0, kGranule);
  take(0, 10);
  take(kGranule - 10, 10);
  take(100, 20);
  EXPECT_EQ(holes(), (Holes{{10, 90}, {120, kGranule - 130}}));
}

TEST_F(SpanMapTest, TakesAHoleWhole) {
  map_.add_range(0, kGranule);
  Span& span = take(0, kGranule);
  EXPECT_TRUE(holes().empty());
  map_.release(span);
  EXPECT_EQ(holes(), (Holes{{0, kGranule}}));
}

TEST_F(SpanMapTest, JoinsWithBothNeighbours) {
  map_.add_range(0, kGranule);
  Span& a = take(0, 10);
  Span& b = take(10, 10);
  Span& c = take(20, 10);
  map_.release(a);
  map_.release(c);
  EXPECT_EQ(holes().size(), 2u);
  const Span& joined = map_.release(b);
  EXPECT_EQ(joined.first, 0u);
  EXPECT_EQ(holes(), (Holes{{0, kGranule}}));
}

TEST_F(SpanMapTest, RangesNeverJoin) {
  map_.add_range(0, kGranule);
  map_.add_range(kGranule, kGranule);
  Span& low = take(kGranule - 10, 10);
  Span& high = take(kGranule, 10);
  map_.release(low);
  map_.release(high);
  EXPECT_EQ(holes(), (Holes{{0, kGranule}, {kGranule, kGranule}}));
}

TEST_F(SpanMapTest, OrdersHolesBySizeThenAddress) {
  map_.add_range(0, 4 * kGranule);
  take(5, 5);
  take(15, 5);
  take(28, 5);
  EXPECT_EQ(holes(), (Holes{{0, 5}, {10, 5}, {20, 8}, {33, 4 * kGranule - 33}}));
  EXPECT_EQ(map_.at_least(5)->first, 0u);
  EXPECT_EQ(map_.at_least(6)->first, 20u);
  EXPECT_EQ(map_.at_least(9)->first, 33u);
  EXPECT_EQ(map_.at_least(4 * kGranule), map_.holes().end());
}

TEST_F(SpanMapTest, FindsSpansByTheirFirstPageOnly) {
  map_.add_range(2 * kGranule, kGranule);
  Span& span = take(2 * kGranule + 10, 10);
  EXPECT_EQ(map_.find(span.first), &span);
  EXPECT_EQ(map_.find(span.first + 1), nullptr);
  EXPECT_EQ(map_.find(span.first + 9), nullptr);
  EXPECT_EQ(map_.find(0), nullptr);
  EXPECT_EQ(map_.find(~Page{0}), nullptr);
}

TEST_F(SpanMapTest, FindsASlabByEveryPage) {
  map_.add_range(0, kGranule);
  Span& slab = take(3, 4, Span::Kind::kSlab);
  for (Page page = 3; page < 7; ++page)
    EXPECT_EQ(map_.find(page), &slab);
  map_.release(slab);
  for (Page page = 3; page < 7; ++page)
    EXPECT_EQ(map_.find(page), nullptr);
}

TEST_F(SpanMapTest, ForgetsARangeThatIsOneHoleOnly) {
  map_.add_range(0, kGranule);
  map_.add_range(kGranule, kGranule);
  Span& span = take(kGranule + 5, 5);
  EXPECT_FALSE(map_.remove_range(kGranule));
  EXPECT_FALSE(map_.remove_range(5));
  EXPECT_TRUE(map_.remove_range(0));
  EXPECT_FALSE(map_.remove_range(0));
  map_.release(span);
  EXPECT_TRUE(map_.remove_range(kGranule));
  EXPECT_TRUE(holes().empty());
  EXPECT_EQ(map_.find(0), nullptr);
}

}  // namespace
}  // namespace weir::place
