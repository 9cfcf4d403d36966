#include "report/terminal_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/golden_file.h"
#include "report/golden_result.h"

namespace weir::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const TableFooter kFooter{true, "weir-price-7c1e09ab.md"};

TEST(TerminalTable, MatchesItsGolden) {
  expect_golden("table.txt", terminal_table(golden_result(), kFooter, {}));
}

TEST(TerminalTable, IsPlainAsciiWhereTheLocaleIs) {
  const std::string text = terminal_table(golden_result(), kFooter, {false, false, 0});
  for (const char letter : text)
    ASSERT_TRUE(letter == '\n' || (letter >= ' ' && letter < 127)) << int{letter};
  expect_golden("table_ascii.txt", text);
}

TEST(TerminalTable, FitsANarrowTerminal) {
  const std::string text = terminal_table(golden_result(), kFooter, {true, false, 80});
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(display_width(std::string_view(text).substr(at, end - at)), 80) << text.substr(at, end - at);
    at = end + 1;
  }
  expect_golden("table_80.txt", text);
}

TEST(TerminalTable, ColoursVerdictsOnlyWhenAsked) {
  EXPECT_THAT(terminal_table(golden_result(), kFooter, {true, true, 0}), HasSubstr("\x1b[32mSHIP\x1b[0m\n"));
  EXPECT_THAT(terminal_table(golden_result(), kFooter, {}), Not(HasSubstr("\x1b")));
}

TEST(TerminalTable, ArmsOfAPoolSayTheirAllocatorAndBetweenItsDesign) {
  lab::ExperimentResult result = golden_result();
  result.design = lab::Design::kBetween;
  result.blocks_per_start = 1;
  lab::ArmResult& arm = result.cells[0].arms[2];
  arm.allocator = lab::Allocator::kWeir;
  arm.name = lab::arm_name(arm.allocator, arm.cache_limit);
  const std::string text = terminal_table(result, kFooter, {});
  EXPECT_THAT(text, HasSubstr("between: 6 blocks × 6 starts\n"));
  EXPECT_THAT(text, HasSubstr("\n  arm  "));
  EXPECT_THAT(text, HasSubstr("\n  weir 64 MiB  "));
  result.blocks_per_start = 3;
  result.starts = 2;
  EXPECT_THAT(terminal_table(result, kFooter, {}), HasSubstr("between: 2 of 6 blocks × 6 starts × 3 turns"));
}

TEST(TerminalTable, SaysWhatWasNotStored) {
  const std::string text = terminal_table(golden_result(), {false, ""}, {});
  EXPECT_THAT(text, Not(HasSubstr("stored for")));
  EXPECT_THAT(text, Not(HasSubstr("report:")));
}

TEST(TerminalTable, AnEmptyExperimentStillReads) {
  lab::ExperimentResult result = golden_result();
  for (lab::ArmResult& arm : result.cells[0].arms) {
    arm.measured = {};
    arm.change.clear();
    arm.saved_bytes.reset();
  }
  result.cells[0].noise.clear();
  result.cells[0].footprint_prompts = 0;
  const std::string text = terminal_table(result, kFooter, {});
  EXPECT_THAT(text, HasSubstr("too few starts"));
  EXPECT_THAT(text, HasSubstr("?"));
}

TEST(TerminalTable, AHostileModelNameCannotSteerTheTerminal) {
  lab::ExperimentResult result = golden_result();
  result.environment.model = "evil\x1b]0;owned\x07";
  EXPECT_THAT(terminal_table(result, kFooter, {}), HasSubstr("evil?]0;owned?"));
}

}  // namespace
}  // namespace weir::report
