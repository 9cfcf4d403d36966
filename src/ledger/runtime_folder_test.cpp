#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/governed_child.h"
#include "ledger/governed_page.h"

namespace weir::ledger {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

class RuntimeFolder : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"WEIR_RUNTIME_DIR", "XDG_RUNTIME_DIR"}) {
      const char* value = std::getenv(name);
      before_[name] = value != nullptr ? std::optional<std::string>(value) : std::nullopt;
      ::unsetenv(name);
    }
  }
  void TearDown() override {
    for (const auto& [name, value] : before_)
      if (value) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }
  static void own(const fs::path& path) { ::setenv("WEIR_RUNTIME_DIR", path.c_str(), 1); }
  static std::string refusal(ErrorKind kind = ErrorKind::kEnvironment) {
    const auto folder = runtime_folder();
    if (folder) return "accepted: " + folder->string();
    EXPECT_EQ(folder.error().kind, kind);
    return folder.error().message;
  }

 private:
  PagesFolder folder_;
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(RuntimeFolder, IsMadeClosedToOthersWhateverTheUmask) {
  for (const mode_t mask : {0000, 0777}) {
    own(root() / "own");
    const mode_t before = ::umask(mask);
    const auto folder = runtime_folder();
    ::umask(before);
    ASSERT_TRUE(folder) << folder.error().message;
    EXPECT_EQ(*folder, root() / "own");
    EXPECT_EQ(fs::status(*folder).permissions(), fs::perms::owner_all);
    EXPECT_EQ(value_or_throw(runtime_folder()), *folder) << "and found again";
    fs::remove(*folder);
  }
}

TEST_F(RuntimeFolder, TheFirstVariableThatIsSetDecides) {
  ::setenv("XDG_RUNTIME_DIR", root().c_str(), 1);
  EXPECT_EQ(value_or_throw(runtime_folder()), root() / "weir");
  own(root() / "own");
  EXPECT_EQ(value_or_throw(runtime_folder()), root() / "own");
}

TEST_F(RuntimeFolder, WithoutAUsableVariableItIsBelowTmp) {
  const fs::path expected = "/tmp/weir-" + std::to_string(::geteuid());
  const bool existed = fs::exists(fs::symlink_status(expected));
  for (const char* session : {"", "run/user", "unset"}) {
    ::setenv("XDG_RUNTIME_DIR", session, 1);
    if (std::string(session) == "unset") ::unsetenv("XDG_RUNTIME_DIR");
    const auto folder = runtime_folder();
    if (!folder) GTEST_SKIP() << folder.error().message;  // somebody else's folder stands there
    EXPECT_EQ(*folder, expected) << session;
  }
  std::error_code ignored;
  if (!existed) fs::remove(expected, ignored);
}

TEST_F(RuntimeFolder, ARelativeOrEmptyChoiceIsAnError) {
  own("");
  EXPECT_THAT(refusal(ErrorKind::kUsage), HasSubstr("not an absolute path: ''"));
  own("run");
  EXPECT_THAT(refusal(ErrorKind::kUsage), HasSubstr("not an absolute path: 'run'"));
}

TEST_F(RuntimeFolder, ALinkIsRefusedAlsoWithASlashAtItsEnd) {
  fs::create_directory(root() / "real");
  fs::permissions(root() / "real", fs::perms::owner_all);
  fs::create_directory_symlink(root() / "real", root() / "it's");
  for (const char* end : {"", "/", "//"}) {
    own((root() / "it's").string() + end);
    EXPECT_THAT(refusal(), HasSubstr("symbolic link")) << end;
    EXPECT_THAT(refusal(), HasSubstr("rm '" + root().string() + "/it'\\''s'"));
  }
}

TEST_F(RuntimeFolder, AFileIsRefused) {
  std::ofstream(root() / "file") << "x";
  own(root() / "file");
  EXPECT_THAT(refusal(), HasSubstr("not a folder; rm '"));
}

TEST_F(RuntimeFolder, AModeThatLetsOthersInIsRefusedWithItsMend) {
  fs::create_directory(root() / "own");
  own(root() / "own");
  for (const mode_t mode : {0755, 0770, 0701, 0500, 0000}) {
    ASSERT_EQ(::chmod((root() / "own").c_str(), mode), 0);
    EXPECT_THAT(refusal(), HasSubstr("instead of 0700; chmod 700 '" + (root() / "own").string() + "'"));
  }
  ASSERT_EQ(::chmod((root() / "own").c_str(), 02700), 0);
  EXPECT_TRUE(runtime_folder()) << "chmod 700 keeps that bit";
}

TEST_F(RuntimeFolder, AForeignFolderIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  fs::create_directory(root() / "own");
  fs::permissions(root() / "own", fs::perms::owner_all);
  ASSERT_EQ(::chown((root() / "own").c_str(), 12345, 12345), 0);
  own(root() / "own");
  EXPECT_THAT(refusal(), HasSubstr("belongs to user 12345, not to you (0); set WEIR_RUNTIME_DIR"));
}

TEST_F(RuntimeFolder, AnAbsentParentIsNamed) {
  own(root() / "absent" / "own");
  EXPECT_THAT(refusal(), HasSubstr("mkdir -p '" + (root() / "absent").string() + "'"));
}

TEST_F(RuntimeFolder, AParentThatCannotHoldFoldersIsRefused) {
  std::ofstream(root() / "file") << "x";
  for (const fs::path& parent : {root() / "file", fs::path("/proc/self")}) {
    own(parent / "own");
    EXPECT_THAT(refusal(), HasSubstr("set WEIR_RUNTIME_DIR to a folder of your own"));
  }
}

}  // namespace
}  // namespace weir::ledger
