#include "store/state_dir.h"

#include <sys/stat.h>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/scratch_folder.h"

namespace weir::store {
namespace {

using testing::HasSubstr;

Result<std::filesystem::path> with(std::map<std::string, std::string> variables) {
  return state_dir([variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

TEST(StateDir, TakesTheFirstOfThreeNames) {
  EXPECT_EQ(with({{"WEIR_STATE_DIR", "/a"}, {"XDG_STATE_HOME", "/b"}, {"HOME", "/c"}}).value(), "/a");
  EXPECT_EQ(with({{"XDG_STATE_HOME", "/b"}, {"HOME", "/c"}}).value(), "/b/weir");
  EXPECT_EQ(with({{"HOME", "/c"}}).value(), "/c/.local/state/weir");
  EXPECT_EQ(with({{"XDG_STATE_HOME", ""}, {"HOME", "/c"}}).value(), "/c/.local/state/weir");
  EXPECT_EQ(store_path("/a"), "/a/weir.db");
}

TEST(StateDir, MakesARelativeFolderAbsolute) {
  EXPECT_EQ(with({{"WEIR_STATE_DIR", "x/../y"}}).value(), std::filesystem::current_path() / "y");
}

TEST(StateDir, RefusesWhatCannotBeMeant) {
  EXPECT_EQ(with({{"WEIR_STATE_DIR", ""}, {"HOME", "/c"}}).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(with({{"WEIR_STATE_DIR", ""}, {"HOME", "/c"}}).error().where, "WEIR_STATE_DIR");
  EXPECT_EQ(with({{"XDG_STATE_HOME", "rel"}, {"HOME", "/c"}}).error().kind, ErrorKind::kUsage);
  for (const auto& home : {std::map<std::string, std::string>{}, {{"HOME", ""}}, {{"HOME", "rel"}}}) {
    EXPECT_EQ(with(home).error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(with(home).error().message, HasSubstr("WEIR_STATE_DIR"));
  }
}

TEST(StateDir, ReadsTheProcessEnvironment) {
  EXPECT_EQ(process_environment()("WEIR_NO_SUCH_VARIABLE"), std::nullopt);
  EXPECT_EQ(process_environment()("PATH"), std::getenv("PATH"));
}

TEST(PrivateFolders, LeavesExistingFoldersAsTheyAre) {
  const ScratchFolder folder;
  ::chmod(folder.path().c_str(), 0755);
  ASSERT_TRUE(make_private_folders(folder.path() / "a" / "b" / ""));
  ASSERT_TRUE(make_private_folders(folder.path() / "a" / "b"));
  struct stat status {};
  ASSERT_EQ(::stat((folder.path() / "a" / "b").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  ASSERT_EQ(::stat(folder.path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0755U);
}

TEST(PrivateFolders, NamesTheVariableWhereAFileStandsInTheWay) {
  const auto made = make_private_folders("/proc/version/weir");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(made.error().message, HasSubstr("WEIR_STATE_DIR"));
}

}  // namespace
}  // namespace weir::store
