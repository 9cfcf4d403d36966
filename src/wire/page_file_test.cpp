#include "wire/page_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "wire/process_stat.h"

namespace weir::wire {
namespace {

namespace fs = std::filesystem;

constexpr int kSkipped = 77;

class PageFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/weir_page_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
    folder_ = root_ / "pages";
    fs::create_directory(folder_);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  void TearDown() override { fs::remove_all(root_); }

  [[nodiscard]] fs::path file(std::uint64_t run) const {
    char name[kPageNameBytes];
    print_page_name(run, static_cast<std::uint32_t>(::getpid()), name);
    return folder_ / name;
  }
  /// The page works, nobody else sees it, and its reason holds `why`.
  void expect_private(const fs::path& folder, const char* why) const {
    const char* trouble = nullptr;
    CountersPage* page = make_page(folder.c_str(), {.run = 7}, &trouble);
    ASSERT_NE(page, nullptr);
    ASSERT_NE(trouble, nullptr);
    EXPECT_NE(std::string(trouble).find(why), std::string::npos) << trouble;
    EXPECT_EQ(page->magic.load(), kPageMagic);
    page->live.store(1);
    unmake_page(page, folder.c_str());
    leave_page(page);
  }

  fs::path root_, folder_;
};

/// Runs `body` in a child and returns its exit code; 1000 + signal for a killed one.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST_F(PageFile, ThePageIsAFileOfItsOwnerAlone) {
  const char* trouble = "unset";
  CountersPage* page = make_page(folder_.c_str(),
                                 {.run = 42,
                                  .allocator = Allocator::kMlxPolicy,
                                  .library = "/x/libmlx.so",
                                  .forked = true,
                                  .backend = Backend::kCuda},
                                 &trouble);
  EXPECT_EQ(trouble, nullptr);
  struct stat status {};
  ASSERT_EQ(::lstat(file(42).c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 8192);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_GE(status.st_blocks * 512, 8192) << "a page without a block kills its writer on a full disk";
  EXPECT_EQ(page->pid.load(), static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(page->run.load(), 42u);
  EXPECT_EQ(page->allocator.load(), static_cast<std::uint32_t>(Allocator::kMlxPolicy));
  EXPECT_EQ(page->state.load(), static_cast<std::uint32_t>(PageState::kStarting));
  EXPECT_EQ(page->cache_limit.load(), kNoLimit);
  EXPECT_EQ(page->forks.load(), 1u);
  EXPECT_EQ(page->backend.load(), static_cast<std::uint32_t>(Backend::kCuda));
  EXPECT_GT(page->start_ticks.load(), 0u);
  EXPECT_EQ(page->pid_namespace.load(), own_pid_namespace());
  EXPECT_NE(page->pid_namespace.load(), 0u);
  EXPECT_GT(page->started_ns.load(), 1'700'000'000'000'000'000u);
  EXPECT_STREQ(page->library, "/x/libmlx.so");
  EXPECT_STREQ(page->command, "weir_wire_test");

  page->live.store(123);
  std::uint64_t live = 0;
  std::ifstream in(file(42), std::ios::binary);
  in.seekg(offsetof(CountersPage, live));
  in.read(reinterpret_cast<char*>(&live), sizeof live);
  EXPECT_EQ(live, 123u) << "what is written is seen";

  unmake_page(page, folder_.c_str());
  EXPECT_FALSE(fs::exists(file(42)));
  EXPECT_EQ(page->state.load(), static_cast<std::uint32_t>(PageState::kExited)) << "still there to count on";
  leave_page(page);
}

TEST_F(PageFile, WithoutAFolderUnmakingLeavesTheFileForItsReader) {
  CountersPage* page = make_page(folder_.c_str(), {.run = 42}, nullptr);
  unmake_page(page, "");
  EXPECT_TRUE(fs::exists(file(42)));
  EXPECT_EQ(page->state.load(), static_cast<std::uint32_t>(PageState::kExited));
  leave_page(page);
}

TEST_F(PageFile, LongPathsAreCutAndStillEnd) {
  const std::string path(5000, 'x');
  CountersPage* page = make_page("", {.library = path.c_str()}, nullptr);
  EXPECT_EQ(std::strlen(page->library), sizeof page->library - 1);
  leave_page(page);
}

TEST_F(PageFile, AFolderThatOthersMayEnterIsNotUsed) {
  for (const auto mode : {0755, 0701, 0770, 0500}) {
    ASSERT_EQ(::chmod(folder_.c_str(), static_cast<mode_t>(mode)), 0);
    expect_private(folder_, "mode");
    EXPECT_TRUE(fs::is_empty(folder_)) << mode;
  }
}

TEST_F(PageFile, AFolderOfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  ASSERT_EQ(::chown(folder_.c_str(), 12345, 12345), 0);
  expect_private(folder_, "another user");
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PageFile, LinksFilesAndNothingAreNoFolders) {
  fs::create_directory_symlink(folder_, root_ / "link");
  expect_private(root_ / "link", "no folder");
  std::ofstream(root_ / "file") << "x";
  expect_private(root_ / "file", "no folder");
  expect_private(root_ / "absent", "no folder");
  expect_private("", "no folder");
  const char* trouble = nullptr;
  leave_page(make_page(nullptr, {}, &trouble));
  EXPECT_NE(trouble, nullptr);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PageFile, WhatADeadProcessLeftUnderThisNameIsReplaced) {
  std::ofstream(file(7)) << "left over";
  const char* trouble = nullptr;
  CountersPage* page = make_page(folder_.c_str(), {.run = 7}, &trouble);
  EXPECT_EQ(trouble, nullptr);
  EXPECT_EQ(fs::file_size(file(7)), 8192u);
  unmake_page(page, folder_.c_str());
  leave_page(page);
}

TEST_F(PageFile, ThePageOfAnotherPidNamespaceUnderThisNameStays) {
  CountersPage* page = make_page(folder_.c_str(), {.run = 7}, nullptr);
  page->live.store(5);
  page->pid_namespace.store(own_pid_namespace() + 1);
  expect_private(folder_, "cannot make");
  EXPECT_EQ(page->live.load(), 5u);
  ASSERT_TRUE(fs::exists(file(7)));
  page->pid_namespace.store(0);  // unknown: taken for our own
  const char* trouble = nullptr;
  leave_page(make_page(folder_.c_str(), {.run = 7}, &trouble));
  EXPECT_EQ(trouble, nullptr);
  leave_page(page);
}

TEST_F(PageFile, ALinkUnderThisNameIsReplacedAndNotFollowed) {
  std::ofstream(root_ / "precious") << "precious";
  fs::create_symlink(root_ / "precious", file(7));
  CountersPage* page = make_page(folder_.c_str(), {.run = 7}, nullptr);
  EXPECT_EQ(fs::file_size(root_ / "precious"), 8u);
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(file(7))));
  leave_page(page);
}

TEST_F(PageFile, AFolderUnderThisNameIsLeftAlone) {
  fs::create_directory(file(7));
  expect_private(folder_, "cannot make");
  EXPECT_TRUE(fs::is_directory(file(7)));
}

TEST_F(PageFile, TheUmaskOfTheHostDoesNotHideThePage) {
  const mode_t before = ::umask(0777);
  CountersPage* page = make_page(folder_.c_str(), {.run = 7}, nullptr);
  EXPECT_EQ(::umask(before), 0777u);
  struct stat status {};
  ASSERT_EQ(::stat(file(7).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  leave_page(page);
}

TEST_F(PageFile, ErrnoOutlivesAllOfIt) {
  errno = ERANGE;
  CountersPage* page = make_page("/absent", {}, nullptr);
  EXPECT_EQ(errno, ERANGE);
  unmake_page(page, "/absent");
  leave_page(page);
  EXPECT_EQ(errno, ERANGE);
}

TEST_F(PageFile, NullIsIgnored) {
  unmake_page(nullptr, folder_.c_str());
  leave_page(nullptr);
}

TEST_F(PageFile, AForkedChildLeavesItsParentsPageAndMakesItsOwn) {
  CountersPage* page = make_page(folder_.c_str(), {.run = 7}, nullptr);
  page->live.store(5);
  EXPECT_EQ(in_child([&] {
              unmake_page(page, folder_.c_str());  // not its own
              if (page->state.load() == static_cast<std::uint32_t>(PageState::kExited)) return 1;
              leave_page(page);
              const char* trouble = nullptr;
              CountersPage* own = make_page(folder_.c_str(), {.run = 7, .forked = true}, &trouble);
              if (trouble != nullptr || own->live.load() != 0 || !fs::exists(file(7))) return 2;
              own->live.store(6);
              unmake_page(own, folder_.c_str());
              return fs::exists(file(7)) ? 3 : 0;
            }),
            0);
  EXPECT_EQ(page->live.load(), 5u);
  EXPECT_TRUE(fs::exists(file(7)));
  leave_page(page);
}

TEST_F(PageFile, AFileLimitBelowAPageDoesNotKillTheHost) {
  EXPECT_EQ(in_child([&] {
              const rlimit none{kPageBytes - 1, kPageBytes - 1};
              ::setrlimit(RLIMIT_FSIZE, &none);
              const char* trouble = nullptr;
              CountersPage* page = make_page(folder_.c_str(), {.run = 7}, &trouble);
              page->live.store(1);
              return trouble != nullptr && std::strstr(trouble, "ulimit -f") != nullptr ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PageFile, WithoutDescriptorsThePageIsPrivate) {
  EXPECT_EQ(in_child([&] {
              const rlimit none{0, 0};
              ::setrlimit(RLIMIT_NOFILE, &none);
              const char* trouble = nullptr;
              CountersPage* page = make_page(folder_.c_str(), {.run = 7}, &trouble);
              page->live.store(1);
              return trouble != nullptr ? 0 : 1;
            }),
            0);
}

TEST_F(PageFile, WithoutAddressSpaceThereIsStillAPage) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need address space";
#endif
  EXPECT_EQ(in_child([&] {
              const rlimit none{4096, 4096};
              ::setrlimit(RLIMIT_AS, &none);
              const char* trouble = nullptr;
              CountersPage* page = make_page(folder_.c_str(), {.run = 7}, &trouble);
              page->live.store(1);
              leave_page(page);
              page->live.store(2);
              return trouble != nullptr && std::strcmp(trouble, "cannot map a page") == 0 ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(PageFile, AFullDiskDoesNotKillTheHost) {
  const int code = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
      return kSkipped;
    if (::mount("none", folder_.c_str(), "tmpfs", 0, "size=12288,mode=0700") != 0) return kSkipped;
    std::ofstream(folder_ / "filler") << std::string(8192, 'x');  // leaves room for half a page
    const char* trouble = nullptr;
    CountersPage* page = make_page(folder_.c_str(), {.run = 7}, &trouble);
    page->live.store(1);
    if (trouble == nullptr || std::strstr(trouble, "no room") == nullptr) return 1;
    return fs::exists(file(7)) ? 2 : 0;
  });
  if (code == kSkipped) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(code, 0);
}

TEST(PageName, IsExactlyTwoNumbers) {
  std::uint64_t run = 9;
  std::uint32_t pid = 9;
  for (const char* name :
       {"", "-", ".page", "1-2.pag", "1-2.page~", "1-2.pagex", "01-2.page", "1-02.page", "1_2.page",
        "1-2147483648.page", "-1-2.page", "1-.page", " 1-2.page", "1-2", "99999999999999999999-2.page",
        "18446744073709551615-2147483647.pagexxxxxxxxxxxxxxxxxxxxxxxx"})
    EXPECT_FALSE(parse_page_name(name, run, pid)) << name;
  EXPECT_EQ(run, 9u);
  EXPECT_EQ(pid, 9u);
  ASSERT_TRUE(parse_page_name("18446744073709551615-2147483647.page", run, pid));
  EXPECT_EQ(run, ~0ull);
  EXPECT_EQ(pid, 2147483647u);
  char name[kPageNameBytes];
  EXPECT_EQ(print_page_name(run, pid, name), 36u);
  EXPECT_STREQ(name, "18446744073709551615-2147483647.page");
}

}  // namespace
}  // namespace weir::wire
