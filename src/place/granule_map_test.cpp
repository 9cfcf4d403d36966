#include <gtest/gtest.h>

#include "place/granule_map.h"

namespace weir::place {
namespace {

using Kind = Action::Kind;
using Actions = std::vector<Action>;

class GranuleMapTest : public testing::Test {
 protected:
  GranuleMapTest() { granules_.extend(1000); }
  Actions occupy(Granule first, Granule last, const GranuleMap::Plan& plan = {}) {
    Actions actions;
    granules_.reserve(first, last);
    granules_.plan(first, last, plan, actions);
    granules_.occupy(first, last, actions, 0);
    granules_.check_laws();
    return actions;
  }
  Actions shrunk(std::uint32_t most) {
    Actions actions;
    granules_.shrink(most, actions);
    granules_.check_laws();
    return actions;
  }

  GranuleMap granules_;
};

TEST_F(GranuleMapTest, BacksWhatIsUnbackedInOneAction) {
  EXPECT_EQ(granules_.unbacked(60, 200), 141u);
  EXPECT_EQ(occupy(60, 200), (Actions{{Kind::kBack, 60, 141}}));
  EXPECT_EQ(granules_.backed(), 141u);
  EXPECT_EQ(granules_.unbacked(59, 201), 2u);
}

TEST_F(GranuleMapTest, BacksAroundWhatIsBacked) {
  occupy(5, 5);
  EXPECT_EQ(occupy(4, 7), (Actions{{Kind::kBack, 4, 1}, {Kind::kBack, 6, 2}}));
}

TEST_F(GranuleMapTest, IdleGranulesAreUsedInPlace) {
  occupy(0, 9);
  granules_.vacate(0, 9, 1);
  EXPECT_EQ(granules_.idle(), 10u);
  EXPECT_TRUE(occupy(3, 5).empty());
  EXPECT_EQ(granules_.idle(), 7u);
}

TEST_F(GranuleMapTest, MovesTheLongestIdleAndBacksTheRest) {
  occupy(0, 9);
  granules_.vacate(6, 7, 1);
  granules_.vacate(0, 1, 2);
  EXPECT_EQ(occupy(20, 24, {0, 3}),
            (Actions{{Kind::kMove, 20, 2, 6}, {Kind::kMove, 22, 1, 0}, {Kind::kBack, 23, 2}}));
  EXPECT_EQ(granules_.idle(), 1u);
  EXPECT_EQ(granules_.backed(), 12u);
  EXPECT_TRUE(granules_.is_idle(1));
}

TEST_F(GranuleMapTest, TakesNoGranuleFromTheBlockItself) {
  occupy(0, 9);
  granules_.vacate(4, 5, 1);
  granules_.vacate(0, 1, 2);
  EXPECT_EQ(occupy(5, 12, {1, 1}),
            (Actions{{Kind::kReturn, 4, 1}, {Kind::kMove, 10, 1, 0}, {Kind::kBack, 11, 2}}));
}

TEST_F(GranuleMapTest, ReturnsTheLongestIdleFirst) {
  occupy(0, 9);
  granules_.vacate(8, 9, 1);
  granules_.vacate(2, 3, 1);
  granules_.vacate(0, 0, 5);
  EXPECT_EQ(shrunk(5), Actions{});
  EXPECT_EQ(shrunk(2), (Actions{{Kind::kReturn, 8, 2}, {Kind::kReturn, 2, 1}}));
  EXPECT_EQ(shrunk(0), (Actions{{Kind::kReturn, 3, 1}, {Kind::kReturn, 0, 1}}));
  EXPECT_EQ(granules_.backed(), 5u);
}

TEST_F(GranuleMapTest, ReturnsByAgeOnlyWhatIsOlder) {
  occupy(0, 9);
  granules_.vacate(0, 1, 10);
  granules_.vacate(4, 4, 11);
  Actions actions;
  granules_.shrink_older(10, actions);
  EXPECT_TRUE(actions.empty());
  granules_.shrink_older(11, actions);
  EXPECT_EQ(actions, (Actions{{Kind::kReturn, 0, 2}}));
  granules_.check_laws();
}

TEST_F(GranuleMapTest, AnAgeStartsAnewWithEachUse) {
  occupy(0, 1);
  granules_.vacate(0, 1, 1);
  occupy(0, 0);
  granules_.vacate(0, 0, 5);
  EXPECT_EQ(shrunk(1), (Actions{{Kind::kReturn, 1, 1}}));
}

TEST_F(GranuleMapTest, LeavesWhatTheListHeldBefore) {
  occupy(0, 3);
  granules_.vacate(2, 3, 1);
  Actions actions{{Kind::kReturn, 1, 1}};
  granules_.shrink(0, actions);
  EXPECT_EQ(actions, (Actions{{Kind::kReturn, 1, 1}, {Kind::kReturn, 2, 2}}));
}

}  // namespace
}  // namespace weir::place
