#include "cli/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/top_fixture.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class TopView : public ::testing::Test {
 protected:
  TopView() { model_.show(watched_processes(30)); }

  std::vector<TopLine> lines(int width, int height, bool unicode = true) const {
    return top_screen_lines(model_, {"14:03:07", "1 s", made_up_machine()}, {width, height, unicode});
  }
  std::string screen(int width, int height, bool unicode = true) const {
    return text_of(lines(width, height, unicode));
  }

  TopModel model_;
};

TEST_F(TopView, FillsASmallAndAWideTerminal) {
  expect_screen("top_80.txt", screen(80, 24));
  expect_screen("top_200.txt", screen(200, 50));
}

TEST_F(TopView, SpellsEverythingInAsciiWhereTheLocaleHasNoMore) {
  const std::string text = screen(80, 24, false);
  expect_screen("top_80_ascii.txt", text);
  for (const char c : text)
    EXPECT_TRUE(static_cast<unsigned char>(c) < 0x80);
}

TEST_F(TopView, ExplainsWhyBuffersAreNotReused) {
  ASSERT_TRUE(model_.press(TopKey::kWhy));
  expect_screen("why_80.txt", screen(80, 24));
  expect_screen("why_200.txt", screen(200, 50));
}

TEST_F(TopView, HelpsInEightyColumns) {
  ASSERT_TRUE(model_.press(TopKey::kHelp));
  expect_screen("help_80.txt", screen(80, 24));
}

TEST_F(TopView, IsNeverLargerThanItsFrame) {
  for (const TopKey key : {TopKey::kOther, TopKey::kWhy, TopKey::kHelp}) {
    ASSERT_TRUE(model_.press(key));
    for (int width = 1; width <= 260; width += width < 20 ? 1 : 17)
      for (int height = 1; height <= 60; height += height < 20 ? 1 : 7) {
        const std::vector<TopLine> shown = lines(width, height, height % 2 == 0);
        EXPECT_EQ(static_cast<int>(shown.size()), height) << width << " × " << height;
        for (const TopLine& line : shown)
          EXPECT_LE(line.width(), width) << width << " × " << height << ": " << line.text();
      }
  }
}

TEST_F(TopView, KeepsTheSelectedRowInSight) {
  std::vector<WatchedProcess> many;
  for (int i = 0; i < 100; ++i) {
    WatchedProcess one;
    one.now = made_up_process(1000 + i, "python3", 1'000'000 * (200 - i), 0);
    one.footprints = {*one.now.layers.footprint};
    many.push_back(one);
  }
  model_.show(many);
  for (int i = 0; i < 57; ++i)
    ASSERT_TRUE(model_.press(TopKey::kDown));
  EXPECT_THAT(screen(80, 24), HasSubstr("\n> 1057 python3"));
  ASSERT_TRUE(model_.press(TopKey::kEnd));
  EXPECT_THAT(screen(80, 8), HasSubstr("\n> 1099 python3"));
}

TEST_F(TopView, SaysHowToBeginWhereNothingIsGoverned) {
  model_.show({});
  EXPECT_THAT(screen(80, 24), HasSubstr("no governed process lives; start one with: weir run -- COMMAND"));
  ASSERT_TRUE(model_.press(TopKey::kWhy));
  EXPECT_THAT(screen(80, 24), HasSubstr("no governed process lives"));
}

TEST_F(TopView, ShowsWhatIsUnknownAsUnknown) {
  ASSERT_TRUE(model_.press(TopKey::kEnd));
  const std::string text = screen(80, 40);
  EXPECT_THAT(text, HasSubstr("live ? + retained ?"));
  EXPECT_THAT(text, Not(HasSubstr("cache limit  ")));
}

TEST_F(TopView, MarksABackendThatNoHardwareHasRun) {
  std::vector<WatchedProcess> one = watched_processes(1);
  one.resize(1);
  one[0].now.page.backend = wire::Backend::kCuda;
  one[0].now.page.devices = {{"a device", 80'000'000'000, 60'000'000'000, 2'000'000'000, 1'000'000'000}};
  model_.show(one);
  EXPECT_THAT(screen(200, 50), HasSubstr("on cuda (not run on hardware)"));
  EXPECT_THAT(screen(200, 50), HasSubstr("pool holds 2.00 GB, uses 1.00 GB · not run on hardware"));
}

}  // namespace
}  // namespace weir::cli
