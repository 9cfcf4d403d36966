#include "report/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <algorithm>
#include <sstream>

#include "report/golden_file.h"
#include "report/golden_result.h"

namespace weir::report {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// Bars of a table line that are not escaped.
std::ptrdiff_t bars(const std::string& line) {
  std::ptrdiff_t count = 0;
  for (std::size_t i = 0; i < line.size(); ++i)
    count += line[i] == '|' && (i == 0 || line[i - 1] != '\\');
  return count;
}

TEST(Markdown, MatchesItsGolden) {
  expect_golden("report.md", markdown(golden_result(), golden_record()));
}

TEST(Markdown, StartsWithTheVerdictAndItsSentence) {
  EXPECT_THAT(markdown(golden_result(), golden_record()), StartsWith("# SHIP: 64 MiB keeps 1.85 GB less"));
}

TEST(Markdown, EveryTableHasAsManyCellsInEachLine) {
  lab::ExperimentResult result = golden_result();
  result.environment.model = "a|b\nc<script>";
  result.cells[0].checks_failed[0].what = "x | y";
  std::istringstream lines(markdown(result, golden_record()));
  std::ptrdiff_t expected = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool in_table = line.rfind('|', 0) == 0;
    if (in_table && expected != 0) {
      EXPECT_EQ(bars(line), expected) << line;
    }
    expected = in_table ? bars(line) : 0;
  }
}

TEST(Markdown, EscapesWordsFromOutside) {
  EXPECT_EQ(markdown_escaped("a|b*_<i>\x1b"), "a\\|b\\*\\_\\<i\\>?");
}

TEST(Markdown, AFailedCheckCarriesItsEvidence) {
  EXPECT_THAT(
      markdown(golden_result(), golden_record()),
      HasSubstr("| reached: 4 GiB | failed | the baseline retained 2,215,000,000 bytes of 4,294,967,296 |"));
}

TEST(Markdown, AnUnfinishedPlanClaimsNoCheck) {
  lab::ExperimentResult result = golden_result();
  result.pairs = 0;
  result.complete = false;
  const std::string text = markdown(result, golden_record());
  EXPECT_THAT(text, HasSubstr("| identical work | not known | no pair was kept |"));
  EXPECT_THAT(text, HasSubstr("the same command goes on with it"));
}

}  // namespace
}  // namespace weir::report
