#include "cli/top_line.h"

#include <gtest/gtest.h>

#include "cli/top_fixture.h"
#include "cli/top_plain.h"

namespace weir::cli {
namespace {

constexpr TopFrame kAscii{80, 24, false};

std::string bar(const ledger::Layers& layers, std::int64_t scale, int width) {
  TopLine line;
  add_layers_bar(line, layers, scale, width, kAscii);
  EXPECT_EQ(line.width(), width);
  return line.text();
}

ledger::Layers layers(std::int64_t footprint, std::int64_t live, std::int64_t retained) {
  ledger::Layers out;
  out.footprint = footprint;
  out.live = live;
  out.retained = retained;
  out.unexplained = footprint - live - retained;
  return out;
}

TEST(LayersBar, ShowsEachLayerByItsShare) {
  EXPECT_EQ(bar(layers(100, 50, 30), 100, 10), "#####===??");
  EXPECT_EQ(bar(layers(100, 50, 30), 200, 10), "###=?") << "half as long on twice the scale";
}

TEST(LayersBar, IsAsLongAsTheFootprintWhateverTheLayersSay) {
  EXPECT_EQ(bar(layers(50, 80, 30), 100, 10), "#####") << "live pages that are not physical yet";
  EXPECT_EQ(bar(layers(0, 0, 0), 0, 10), "");
  EXPECT_EQ(bar({}, 100, 10), "");
  ledger::Layers untouched = layers(60, 80, 20);
  untouched.untouched = 40;
  EXPECT_EQ(bar(untouched, 100, 10), "####==");
}

TEST(LayersBar, FitsAnyWidth) {
  for (int width = 0; width < 50; ++width)
    bar(layers(97, 31, 41), 101, width);
}

TEST(Sparkline, SpreadsBetweenTheSmallestAndTheLargest) {
  EXPECT_EQ(sparkline({0, 50, 100}, 3, false), "_=#");
  EXPECT_EQ(sparkline({0, 50, 100}, 3, true), "▁▅█");
  EXPECT_EQ(sparkline({1, 100}, 4, false), "  _#") << "a short history stands on the right";
  EXPECT_EQ(sparkline({5, 1, 100}, 2, false), "_#") << "only the latest";
}

TEST(Sparkline, LeavesNoiseFlat) {
  EXPECT_EQ(sparkline({1'000, 1'001, 999, 1'000}, 4, false), "####");
  EXPECT_EQ(sparkline({0, 0}, 2, false), "__");
  EXPECT_EQ(sparkline({}, 2, false), "  ");
}

TEST(Clipped, CutsAtCharactersAndSaysSo) {
  EXPECT_EQ(clipped("python3.11", 10, true), "python3.11");
  EXPECT_EQ(clipped("python3.11", 6, true), "pytho…");
  EXPECT_EQ(clipped("python3.11", 6, false), "pytho~");
  EXPECT_EQ(clipped("日本語モデル", 5, true), "日本…") << "wide characters take two columns";
  EXPECT_EQ(clipped("x", 0, true), "");
}

TEST(TopLine, CutsItsLastStretchAndKeepsItsInks) {
  TopLine line("abc", Ink::kLive);
  line.add("def", Ink::kRetained);
  const TopLine cut = line.fitted({5, 1, true});
  ASSERT_EQ(cut.spans().size(), 2u);
  EXPECT_EQ(cut.text(), "abcd…");
  EXPECT_EQ(cut.spans()[1].ink, Ink::kRetained);
}

TEST(ShortCount, StaysWithinItsColumn) {
  EXPECT_EQ(short_count(0), "0");
  EXPECT_EQ(short_count(0.25), "0.2");
  EXPECT_EQ(short_count(9.94), "9.9");
  EXPECT_EQ(short_count(12.4), "12");
  EXPECT_EQ(short_count(9'999), "9,999");
  EXPECT_EQ(short_count(12'345), "12.3 k");
  EXPECT_EQ(short_count(123'456), "123 k");
  EXPECT_EQ(short_count(1'234'567), "1.2 M");
  for (double count = 1; count < 9e10; count *= 1.7)
    EXPECT_LE(short_count(count).size(), 6u) << count;
}

std::size_t words(const std::string& line) {
  std::size_t count = 0;
  bool inside = false;
  for (const char c : line) {
    const bool is_word = c != ' ' && c != '\n';
    count += is_word && !inside;
    inside = is_word;
  }
  return count;
}

TEST(PlainLine, HoldsAsManyWordsAsItsHead) {
  for (int looks = 1; looks < 3; ++looks)
    for (const WatchedProcess& process : watched_processes(looks)) {
      const std::string line = plain_line(process, "14:03:07");
      EXPECT_EQ(words(line), words(plain_head())) << line;
      EXPECT_EQ(line.back(), '\n');
    }
}

}  // namespace
}  // namespace weir::cli
