#include "lab/cell.h"

#include <filesystem>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::lab {
namespace {

using testing::HasSubstr;

const std::filesystem::path kWorkloads = std::filesystem::path(WEIR_SOURCE_DIR) / "workloads";

const std::string kSmallest = R"(name = "x"
about = "y"
text = "z"
[footprint]
prompt_tokens = [3, 4]
generate_tokens = 1
[speed]
shortest_prompt_tokens = 1
longest_prompt_tokens = 9
generate_tokens = 2
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kSmallest;
  return text.replace(text.find(from), from.size(), to);
}

std::string refusal(const std::string& toml) {
  const auto cell = parse_cell(toml, "cell.toml");
  if (cell) return "accepted";
  EXPECT_EQ(cell.error().kind, ErrorKind::kBadData);
  EXPECT_EQ(cell.error().where, "cell.toml");
  return cell.error().message;
}

TEST(Cell, ReadsTheSmallest) {
  const auto cell = parse_cell(kSmallest, "cell.toml");
  ASSERT_TRUE(cell) << describe(cell.error());
  ASSERT_EQ(cell->footprint.size(), 2u);
  EXPECT_EQ(cell->footprint[1], (CellRequest{"x/footprint/1", 4, 1}));
  EXPECT_FALSE(cell->repeat);
  EXPECT_EQ(cell->warm_per_turn_at_most, 1);
  EXPECT_EQ(cell->sha256.size(), 64u);
}

TEST(Cell, ErrorsNameKeyAndValue) {
  EXPECT_THAT(refusal(with("[3, 4]", "[3, 0]")),
              testing::AllOf(HasSubstr("footprint.prompt_tokens"), HasSubstr("0")));
  EXPECT_THAT(refusal(with("[3, 4]", "[]")), HasSubstr("footprint.prompt_tokens"));
  EXPECT_THAT(refusal(with("= 9", "= 0.5")), HasSubstr("speed.longest_prompt_tokens"));
  EXPECT_THAT(refusal(with("= 9", "= 1")), HasSubstr("fewer lengths"));
  EXPECT_THAT(refusal(with("= \"x\"", "= \"X Y\"")), HasSubstr("lower-case"));
  EXPECT_THAT(refusal(with("about", "abuot")), HasSubstr("abuot is not a key"));
  EXPECT_THAT(refusal(with("[speed]", "[sped]")), HasSubstr("sped is not a key"));
  EXPECT_THAT(refusal("name = "), HasSubstr("line 1"));
  EXPECT_THAT(refusal("[\x0bU"), HasSubstr("control character"));
}

TEST(Cell, TheBuiltInOnesKeepTheirPromises) {
  ASSERT_THAT(cell_names(kWorkloads), testing::ElementsAre("churn", "short", "steady"));
  const auto churn = load_cell("churn", kWorkloads);
  ASSERT_TRUE(churn) << describe(churn.error());
  std::set<int> lengths;
  for (const auto& request : churn->footprint)
    lengths.insert(request.prompt_tokens);
  EXPECT_EQ(churn->footprint.size(), 14u);
  EXPECT_EQ(lengths.size(), 14u);
  EXPECT_EQ(*lengths.begin(), 100);
  EXPECT_EQ(*lengths.rbegin(), 1000);
  for (const char* name : {"steady", "short"})
    ASSERT_TRUE(load_cell(name, kWorkloads)) << name;
  EXPECT_TRUE(load_cell("steady", kWorkloads)->repeat);
  const auto small = load_cell("short", kWorkloads);
  for (const auto& request : small->footprint)
    EXPECT_LT(request.prompt_tokens, 50);
  EXPECT_TRUE(load_cell((kWorkloads / "churn.toml").string(), "/nowhere"));
}

TEST(Cell, AnUnknownNameListsWhatThereIs) {
  const auto cell = load_cell("chrun", kWorkloads);
  ASSERT_FALSE(cell);
  EXPECT_EQ(cell.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(cell.error().message, HasSubstr("churn, short, steady"));
}

}  // namespace
}  // namespace weir::lab
