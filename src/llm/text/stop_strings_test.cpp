#include "llm/text/stop_strings.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace weir::llm {
namespace {

TEST(StopStrings, HoldsBackWhatMayBecomeAStopString) {
  StopStrings filter({"END"});
  EXPECT_EQ(filter.push("the E").emit, "the ");
  EXPECT_EQ(filter.push("N").emit, "");
  EXPECT_EQ(filter.push("Ergy").emit, "ENErgy");
  EXPECT_EQ(filter.flush(), "");
}

TEST(StopStrings, StopsAcrossChunksAndEmitsNothingAfter) {
  StopStrings filter({"END"});
  EXPECT_EQ(filter.push("the E").emit, "the ");
  const auto step = filter.push("ND of it");
  EXPECT_TRUE(step.stopped);
  EXPECT_EQ(step.emit, "");
  EXPECT_TRUE(filter.push("more").stopped);
  EXPECT_EQ(filter.push("more").emit, "");
  EXPECT_EQ(filter.flush(), "");
}

TEST(StopStrings, GivesTheHeldTextAtTheEnd) {
  StopStrings filter({"END"});
  EXPECT_EQ(filter.push("EN").emit, "");
  EXPECT_EQ(filter.flush(), "EN");
}

TEST(StopStrings, WaitsForAnEarlierOneThatMayStillGrow) {
  StopStrings grown({"abcd", "c"});
  EXPECT_FALSE(grown.push("xabc").stopped);
  EXPECT_TRUE(grown.push("d").stopped);
  StopStrings other({"abcd", "c"});
  EXPECT_EQ(other.push("xabc").emit, "x");
  EXPECT_EQ(other.push("!").emit, "ab");
  StopStrings ended({"abcd", "c"});
  EXPECT_EQ(ended.push("xabc").emit, "x");
  EXPECT_EQ(ended.flush(), "ab");
}

TEST(StopStrings, PassesEverythingWithoutStops) {
  StopStrings filter({"", ""});
  EXPECT_EQ(filter.push("all").emit, "all");
  EXPECT_FALSE(filter.push("").stopped);
}

TEST(StopStrings, EqualsCuttingTheWholeTextHoweverItIsChunked) {
  std::mt19937 random(3);
  const auto letters = [&random](std::uint32_t most) {
    std::string text;
    for (std::uint32_t i = random() % (most + 1); i > 0; --i)
      text += static_cast<char>('a' + random() % 2);
    return text;
  };
  int stops_seen = 0;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> stops;
    for (std::uint32_t i = random() % 4; i > 0; --i)
      stops.push_back(letters(6));
    const std::string text = letters(30);
    std::size_t cut = text.size();
    for (const auto& stop : stops)
      cut = stop.empty() ? cut : std::min(cut, text.find(stop));
    StopStrings filter(stops);
    std::string shown;
    bool stopped = false;
    for (std::size_t at = 0; at < text.size() && !stopped;) {
      const std::size_t length = std::min<std::size_t>(1 + random() % 5, text.size() - at);
      const auto step = filter.push(std::string_view(text).substr(at, length));
      shown += step.emit;
      stopped = step.stopped;
      at += length;
    }
    shown += filter.flush();
    ASSERT_EQ(shown, text.substr(0, cut)) << text;
    stops_seen += stopped ? 1 : 0;
  }
  EXPECT_GT(stops_seen, 5000);
}

}  // namespace
}  // namespace weir::llm
