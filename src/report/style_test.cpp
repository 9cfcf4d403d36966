#include "report/style.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace weir::report {
namespace {

const Style kAscii{false, false, 0};

TEST(Spelling, KeepsSignsWhereUnicodeIsShown) {
  EXPECT_EQ(spelled("−0.6 % · ±1 × 2", Style{}), "−0.6 % · ±1 × 2");
}

TEST(Spelling, UsesAsciiWhereItIsNot) {
  EXPECT_EQ(spelled("−0.6 % · ±1 × 2 ≥ ≤ 1–2 →", kAscii), "-0.6 % | +/-1 x 2 >= <= 1-2 ->");
  EXPECT_EQ(spelled("modèle 模", kAscii), "mod?le ?");
}

TEST(Spelling, DisarmsControlCharactersAndBrokenBytes) {
  EXPECT_EQ(spelled("a\x1b[2Jb\nc\x7f", Style{}), "a?[2Jb c?");
  EXPECT_EQ(spelled("\xff\xc0\xaf|\xe2\x89", Style{}), "???|??");
  EXPECT_EQ(spelled("\xc2\x9b", Style{}), "?");  // The one-byte CSI in its UTF-8 form.
}

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("−0.6 %"), 6);
  EXPECT_EQ(display_width("e\xcc\x81"), 1);
  EXPECT_EQ(display_width("模型"), 4);
  EXPECT_EQ(display_width(""), 0);
}

TEST(Wrapping, BreaksAtSpacesWithinTheWidth) {
  EXPECT_EQ(wrapped("one two three", 8, "  "), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 0), "one two three");
  EXPECT_EQ(wrapped("unbreakable word", 4), "unbreakable\nword");
}

TEST(StyleOf, APipeGetsPlainTextOfAnyWidth) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Style style = style_of(ends[1]);
  EXPECT_TRUE(style.unicode);
  EXPECT_FALSE(style.colour);
  EXPECT_EQ(style.width, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace weir::report
