#include "price/output_place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <cstdlib>
#include <fstream>

namespace weir::price {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

class OutputPlace : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weir-place.XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  fs::path folder_;
};

TEST_F(OutputPlace, AWritableFolderIsLeftAsItWas) {
  EXPECT_TRUE(check_room(folder_, 4096, "use -o FILE"));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(OutputPlace, AMissingFolderIsTheEnvironmentsFaultAndSaysTheMend) {
  const Result<void> room = check_room(folder_ / "none", 4096, "use -o FILE");
  ASSERT_FALSE(room);
  EXPECT_EQ(room.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(describe(room.error()), HasSubstr("use -o FILE"));
  EXPECT_THAT(describe(room.error()), HasSubstr("none"));
}

TEST_F(OutputPlace, MoreThanADiskHoldsIsNoRoom) {
  const Result<void> room = check_room(folder_, std::size_t{1} << 60, "use -o FILE");
  ASSERT_FALSE(room);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(OutputPlace, AFolderOrDeviceIsNoReport) {
  EXPECT_EQ(check_output_file(folder_, "").error().kind, ErrorKind::kUsage);
  EXPECT_EQ(check_output_file("/dev/null", "").error().kind, ErrorKind::kUsage);
  EXPECT_EQ(check_output_file((folder_ / "x").string() + "/", "").error().kind, ErrorKind::kUsage);
}

TEST_F(OutputPlace, AnExistingReportMayBeReplacedAndIsNotTouchedYet) {
  std::ofstream(folder_ / "old.md") << "old";
  fs::create_symlink(folder_ / "old.md", folder_ / "link.md");
  EXPECT_EQ(*check_output_file(folder_ / "link.md", ""), fs::canonical(folder_ / "old.md"));
  EXPECT_EQ(fs::file_size(folder_ / "old.md"), 3u);
}

}  // namespace
}  // namespace weir::price
