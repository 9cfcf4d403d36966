#include "price/progress_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::price {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class FakeClock final : public IClock {
 public:
  Nanoseconds now() override { return now_; }
  std::int64_t unix_seconds() override { return 0; }
  Nanoseconds now_{};
};

struct Written {
  explicit Written(bool on_terminal, report::Style style = {})
      : lines(on_terminal, style, clock, [this](std::string_view text) { all += text; }) {}
  std::string all;
  FakeClock clock;
  ProgressLines lines;
};

lab::Progress speed(int done) {
  return {lab::Phase::kSpeed, done, 24, 130, "start 2, block 3"};
}

TEST(ProgressText, NamesWorkShareAndTimeLeft) {
  EXPECT_EQ(progress_text(speed(6)), "start 2, block 3 · 25 % · 3 min left");
  EXPECT_EQ(progress_text({lab::Phase::kProbe, 0, 0, 0, "probe"}), "probe");
  EXPECT_EQ(progress_text({lab::Phase::kSpeed, 1, 2, 12.2, "x"}), "x · 50 % · 13 s left");
}

TEST(ProgressLines, ATerminalGetsOneLineThatIsWrittenOver) {
  Written written(true);
  written.lines.show(speed(1));
  written.lines.show(speed(2));
  EXPECT_EQ(written.all.find('\n'), std::string::npos);
  EXPECT_THAT(written.all, StartsWith("\r\x1b[K"));
  written.lines.clear();
  EXPECT_THAT(written.all, EndsWith("\r\x1b[K"));
}

TEST(ProgressLines, ATerminalsLineNeverWraps) {
  Written written(true, {true, false, 12});
  written.lines.show(speed(1));
  EXPECT_EQ(written.all, "\r\x1b[Kstart 2, bl");
}

TEST(ProgressLines, APipeGetsALineAPhaseAndThenEveryTenSeconds) {
  Written written(false);
  written.lines.show({lab::Phase::kFootprint, 1, 3, 10, "a"});
  written.lines.show(speed(1));
  written.lines.show(speed(2));
  written.clock.now_ += std::chrono::seconds(9);
  written.lines.show(speed(3));
  EXPECT_EQ(std::count(written.all.begin(), written.all.end(), '\n'), 2);
  written.clock.now_ += std::chrono::seconds(1);
  written.lines.show(speed(4));
  EXPECT_EQ(std::count(written.all.begin(), written.all.end(), '\n'), 3);
  EXPECT_EQ(written.all.find('\x1b'), std::string::npos);
}

TEST(ProgressLines, ALineThatStaysClearsTheOneThatDoesNot) {
  Written written(true, {false, false, 0});
  written.lines.show(speed(1));
  written.lines.say("lose ≤ 2 %");
  EXPECT_THAT(written.all, EndsWith("\r\x1b[Kweir: lose <= 2 %\n"));
}

}  // namespace
}  // namespace weir::price
