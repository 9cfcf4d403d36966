#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/governed_child.h"
#include "ledger/governed_page.h"
#include "wire/page_file.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

namespace fs = std::filesystem;

/// Pids above pid_max: nobody has them.
constexpr pid_t kNobody = 1'000'000'000;

void publish(const PagesFolder& folder, std::uint64_t run) {
  (void)wire::make_page(folder.path().c_str(), {.run = run}, nullptr);
}

void put_page(const PagesFolder& folder, std::uint64_t run, pid_t pid, std::uint64_t start_ticks) {
  folder.put(page_file_name(run, pid), page_bytes([&](wire::CountersPage& page) {
               page.run.store(run);
               page.pid.store(static_cast<std::uint32_t>(pid));
               page.start_ticks.store(start_ticks);
             }));
}

std::vector<pid_t> pids(const std::vector<PageReading>& pages) {
  std::vector<pid_t> found;
  for (const PageReading& page : pages)
    found.push_back(page.pid);
  return found;
}

std::size_t files(const PagesFolder& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path()), {}));
}

std::uint64_t own_start() {
  wire::ProcessStat stat;
  EXPECT_TRUE(wire::read_process_stat(0, stat));
  return stat.start_ticks;
}

TEST(PageFolder, PagesAreReadByRunAndInOrder) {
  const PagesFolder folder;
  put_page(folder, 5, 300, 1);
  put_page(folder, 5, 200, 1);
  put_page(folder, 0, 100, 1);
  EXPECT_THAT(pids(read_pages(folder.path(), 5)), ElementsAre(200, 300));
  EXPECT_THAT(pids(read_pages(folder.path(), 0)), ElementsAre(100));
  EXPECT_THAT(pids(read_pages(folder.path(), std::nullopt)), ElementsAre(100, 200, 300));
  EXPECT_THAT(read_pages(folder.path(), 6), IsEmpty());
  EXPECT_THAT(read_pages(folder.path() / "absent", std::nullopt), IsEmpty());
}

TEST(PageFolder, HostileFilesArePassedOver) {
  const PagesFolder folder;
  const fs::path& root = folder.path();
  put_page(folder, 5, 200, 1);
  folder.put("5-201.page", "rubbish");
  folder.put("5-202.page", "", 0);
  folder.put("notes.txt", "x");
  fs::create_directory(root / "5-203.page");
  fs::create_symlink(root / "5-200.page", root / "5-204.page");
  ASSERT_EQ(::mkfifo((root / "5-205.page").c_str(), 0600), 0);
  fs::copy_file(root / "5-200.page", root / "5-206.page");
  fs::copy_file(root / "5-200.page", root / "6-200.page");
  EXPECT_THAT(pids(read_pages(root, std::nullopt)), ElementsAre(200)) << "also a page under another's name";
}

TEST(PageFolder, ALinkToAFolderIsNotFollowed) {
  const PagesFolder folder, other;
  put_page(folder, 5, kNobody, 1);
  fs::create_directory_symlink(folder.path(), other.path() / "link");
  EXPECT_THAT(read_pages(other.path() / "link", std::nullopt), IsEmpty());
  EXPECT_EQ(remove_stale_pages(other.path() / "link"), 0u);
}

TEST(PageFolder, APageIsStaleWhenItsProcessAndItsRunAreGone) {
  const PagesFolder folder;
  const auto own = static_cast<std::uint64_t>(::getpid());
  put_page(folder, 0, kNobody, 1);                         // goes
  put_page(folder, kNobody, kNobody, 1);                   // goes
  put_page(folder, own, kNobody, own_start() + 1);         // its run lives
  put_page(folder, own, kNobody + 1, own_start() - 1);     // goes: the run's number went to a younger process
  put_page(folder, 0, ::getpid(), own_start());            // lives
  put_page(folder, kNobody, ::getpid(), own_start() - 1);  // goes: the number went to another process
  folder.put(page_file_name(kNobody + 1, kNobody), "", 0);  // goes: killed while it made its page
  folder.put(page_file_name(kNobody, ::getpid()) + "x", "", 0);
  folder.put("notes.txt", "x");
  EXPECT_EQ(remove_stale_pages(folder.path()), 5u);
  EXPECT_TRUE(fs::exists(folder.path() / page_file_name(own, kNobody)));
  EXPECT_TRUE(fs::exists(folder.path() / page_file_name(0, ::getpid())));
  EXPECT_EQ(files(folder), 4u);
  EXPECT_EQ(remove_stale_pages(folder.path()), 0u);
}

TEST(PageFolder, ThePageOfAKilledProcessGoesWithItsSocket) {
  const PagesFolder folder;
  put_page(folder, 0, kNobody, 1);
  put_page(folder, 0, ::getpid(), own_start());
  put_page(folder, 5, ::getpid(), own_start());
  for (const std::string name : {"0-1000000000.sock", "0-1000000001.sock", "1000000002-1000000000.sock"})
    folder.put(name, "", 0);
  folder.put("5-" + std::to_string(::getpid()) + ".sock", "", 0);
  EXPECT_EQ(remove_stale_pages(folder.path()), 1u);
  EXPECT_FALSE(fs::exists(folder.path() / "0-1000000000.sock"));
  EXPECT_EQ(files(folder), 3u) << "sockets without page or process too";
  EXPECT_EQ(remove_run_pages(folder.path(), 5), 1u);
  EXPECT_FALSE(fs::exists(folder.path() / ("5-" + std::to_string(::getpid()) + ".sock")));
}

TEST(PageFolder, PagesOfOtherPidNamespacesAreNotJudged) {
  const PagesFolder folder;
  const std::uint64_t own = wire::own_pid_namespace();
  const auto put = [&](pid_t pid, std::uint64_t space) {
    folder.put(page_file_name(kNobody, pid), page_bytes([&](wire::CountersPage& page) {
                 page.run.store(kNobody);
                 page.pid.store(static_cast<std::uint32_t>(pid));
                 page.start_ticks.store(1);
                 page.pid_namespace.store(space);
               }));
  };
  put(kNobody, own + 1);
  put(kNobody + 1, own);
  put(kNobody + 2, 0);
  EXPECT_EQ(remove_stale_pages(folder.path()), 2u);
  const auto pages = read_pages(folder.path(), std::nullopt);
  EXPECT_THAT(pids(pages), ElementsAre(kNobody));
  EXPECT_EQ(pages.at(0).pid_namespace, own + 1);
}

TEST(PageFolder, WhereProcIsOfAnotherNamespaceNothingIsJudged) {
  const PagesFolder folder;
  put_page(folder, kNobody, kNobody, 1);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWPID) != 0) ::_exit(77);
    const pid_t first = ::fork();  // the first of the new namespace; /proc stays that of the old one
    if (first == 0) ::_exit(remove_stale_pages(folder.path()) == 0 ? 0 : 1);
    int status = -1;
    ::_exit(::waitpid(first, &status, 0) == first ? WEXITSTATUS(status) : 2);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no pid namespaces here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(remove_stale_pages(folder.path()), 1u);
}

TEST(PageFolder, APageIsStaleOnceItsProcessIsKilled) {
  const PagesFolder folder;
  GovernedChild child([&] { publish(folder, 0); });
  EXPECT_EQ(remove_stale_pages(folder.path()), 0u);
  child.kill();
  EXPECT_EQ(remove_stale_pages(folder.path()), 1u) << "also before anybody reaps it";
  EXPECT_EQ(files(folder), 0u);
}

TEST(PageFolder, APageThatIsJustBeingMadeStays) {
  const PagesFolder folder;
  folder.put(page_file_name(kNobody, ::getpid()), "", 0);
  EXPECT_EQ(remove_stale_pages(folder.path()), 0u);
}

TEST(PageFolder, OnlyTheRunsOwnPagesGoWithIt) {
  const PagesFolder folder;
  put_page(folder, 5, 200, 1);
  put_page(folder, 5, ::getpid(), own_start());
  put_page(folder, 55, 200, 1);
  folder.put("5-200.page.txt", "x");
  fs::create_directory(folder.path() / "5-201.page");
  EXPECT_EQ(remove_run_pages(folder.path(), 5), 2u);
  EXPECT_EQ(files(folder), 3u);
}

TEST(PageFolder, TenThousandStalePagesAreReadAndRemoved) {
  const PagesFolder folder;
  for (pid_t i = 0; i < 10'000; ++i)
    folder.put(page_file_name(kNobody, kNobody + i), i % 2 == 0 ? "" : "rubbish", i % 3 == 0 ? 0 : 4096);
  put_page(folder, 5, 200, 1);
  EXPECT_THAT(pids(read_pages(folder.path(), std::nullopt)), ElementsAre(200));
  EXPECT_THAT(pids(read_pages(folder.path(), 5)), ElementsAre(200));
  EXPECT_GE(remove_stale_pages(folder.path()), 10'000u);
}

TEST(PageFolder, NamesArePrintedAsTheyAreParsed) {
  EXPECT_EQ(page_file_name(81923, 4711), "81923-4711.page");
}

}  // namespace
}  // namespace weir::ledger
