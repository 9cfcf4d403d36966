#include <unistd.h>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/cell.h"

namespace weir::lab {
namespace {

using testing::HasSubstr;

const std::string kRest = R"(name = "x"
about = "y"
[footprint]
prompt_tokens = [3, 4]
generate_tokens = 1
[speed]
shortest_prompt_tokens = 1
longest_prompt_tokens = 9
generate_tokens = 2
)";

/// A folder with a cell, and one beside it with a secret.
class CellText : public testing::Test {
 protected:
  CellText() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weir-cell-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(root_ / "cells/sub");
    put("outside.txt", "secret");
    put("cells/words.txt", "caf\xc3\xa9 \xf0\x9f\x8c\x8a\n");
    put("cells/sub/more.txt", "more");
  }
  ~CellText() override { std::filesystem::remove_all(root_); }

  void put(const std::string& name, const std::string& content) const {
    std::ofstream(root_ / name, std::ios::binary) << content;
  }

  [[nodiscard]] Result<Cell> load(const std::string& keys) const {
    put("cells/cell.toml", keys + "\n" + kRest);
    return load_cell((root_ / "cells/cell.toml").string(), "/nowhere");
  }

  [[nodiscard]] std::string refusal(const std::string& keys) const {
    const auto cell = load(keys);
    if (cell) return "accepted";
    EXPECT_EQ(cell.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(cell.error().where, HasSubstr("cell.toml"));
    return cell.error().message;
  }

  std::filesystem::path root_;
};

TEST_F(CellText, ComesFromAFileBesideTheCell) {
  const auto cell = load("text_file = \"words.txt\"");
  ASSERT_TRUE(cell) << describe(cell.error());
  EXPECT_EQ(cell->text, "caf\xc3\xa9 \xf0\x9f\x8c\x8a\n");
  EXPECT_EQ(load("text_file = \"sub/more.txt\"")->text, "more");
}

TEST_F(CellText, IsAPartOfTheCellsHash) {
  const auto before = load("text_file = \"words.txt\"")->sha256;
  EXPECT_EQ(load("text_file = \"words.txt\"")->sha256, before);
  put("cells/words.txt", "other words");
  EXPECT_NE(load("text_file = \"words.txt\"")->sha256, before);
}

TEST_F(CellText, IsGivenOnce) {
  EXPECT_THAT(refusal("text = \"t\"\ntext_file = \"words.txt\""), HasSubstr("give one of them"));
  EXPECT_THAT(refusal(""), HasSubstr("key text must be"));
  EXPECT_THAT(refusal("text_file = 3"), HasSubstr("key text_file must be"));
}

TEST_F(CellText, StaysInTheCellsFolder) {
  EXPECT_THAT(refusal("text_file = \"../outside.txt\""), HasSubstr("inside the cell's folder"));
  EXPECT_THAT(refusal("text_file = \"sub/../../outside.txt\""), HasSubstr("inside the cell's folder"));
  EXPECT_THAT(refusal("text_file = \"" + (root_ / "cells/words.txt").string() + "\""), HasSubstr("relative"));
  std::filesystem::create_symlink(root_ / "outside.txt", root_ / "cells/link.txt");
  EXPECT_THAT(refusal("text_file = \"link.txt\""), HasSubstr("link that leaves"));
  EXPECT_THAT(refusal("text_file = \"sub\""), HasSubstr("regular file"));
  EXPECT_THAT(refusal("text_file = \"none.txt\""), HasSubstr("none.txt"));
}

TEST_F(CellText, IsBoundedUtf8) {
  const auto refused = [&](const std::string& content) {
    put("cells/words.txt", content);
    return refusal("text_file = \"words.txt\"");
  };
  EXPECT_THAT(refused(""), HasSubstr("is empty"));
  EXPECT_THAT(refused(std::string(1, '\0')), HasSubstr("control character"));
  EXPECT_THAT(refused("\x1b[31m"), HasSubstr("control character"));
  for (const char* bad : {"\xff", "a\xc3", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                          "\xf0\x80\x80\x80", "\xc3(", "\x80"})
    EXPECT_THAT(refused(bad), HasSubstr("not UTF-8")) << bad;
  EXPECT_EQ(refused(std::string(1u << 20, 'a')), "accepted");
  EXPECT_NE(refused(std::string((1u << 20) + 1, 'a')), "accepted");
}

TEST_F(CellText, NeedsAFolder) {
  const auto cell = parse_cell("text_file = \"words.txt\"\n" + kRest, "cell.toml");
  ASSERT_FALSE(cell);
  EXPECT_THAT(cell.error().message, HasSubstr("needs a folder"));
}

}  // namespace
}  // namespace weir::lab
