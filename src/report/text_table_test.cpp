#include "report/text_table.h"

#include <gtest/gtest.h>

namespace weir::report {
namespace {

TextTable sample(Style style) {
  TextTable table(style);
  table.add_column("limit", Align::kLeft);
  table.add_column("n", Align::kRight, 1);
  table.add_column("speed", Align::kBounded);
  table.add_row({"64 MiB", "7", "152"});
  table.add_row({"0", "1,100", "−0.9 % (≥ −2.3 %)"});
  return table;
}

TEST(TextTable, LinesUpByWhatATerminalShows) {
  EXPECT_EQ(sample({}).text(),
            "  limit        n   speed\n"
            "  64 MiB       7      152\n"
            "  0        1,100   −0.9 % (≥ −2.3 %)\n");
}

TEST(TextTable, AsciiSpellingsAreMeasuredAsSpelled) {
  EXPECT_EQ(sample({false, false, 0}).text(),
            "  limit        n   speed\n"
            "  64 MiB       7      152\n"
            "  0        1,100   -0.9 % (>= -2.3 %)\n");
}

TEST(TextTable, GivesUpColumnsThatMayGoAndNamesThem) {
  std::vector<std::string> left_out;
  const std::string text = sample({true, false, 30}).text(&left_out);
  EXPECT_EQ(left_out, std::vector<std::string>{"n"});
  EXPECT_EQ(text.find("1,100"), std::string::npos);
}

TEST(TextTable, KeepsWhatMustStay) {
  std::vector<std::string> left_out;
  EXPECT_NE(sample({true, false, 10}).text(&left_out).find("152"), std::string::npos);
}

}  // namespace
}  // namespace weir::report
