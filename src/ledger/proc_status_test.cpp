#include "ledger/proc_status.h"

#include <clocale>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::ledger {
namespace {

using ::testing::HasSubstr;

constexpr const char* kText =
    "Name:\tweir\nVmHWM:\t    2048 kB\nVmRSS:\t    1536 kB\nRssAnon:\t    1000 kB\nRssFile:\t     500 kB\n"
    "RssShmem:\t      36 kB\nVmSwap:\t       8 kB\n";

TEST(ProcStatus, ReadsTheMemoryLines) {
  const auto status = parse_status(kText);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->anonymous, 1000 * 1024);
  EXPECT_EQ(status->file, 500 * 1024);
  EXPECT_EQ(status->shared, 36 * 1024);
  EXPECT_EQ(status->swap, 8 * 1024);
  EXPECT_EQ(status->high_water, 2048 * 1024);
  EXPECT_EQ(status->resident(), 1536 * 1024);
  EXPECT_EQ(status->footprint(), 1044 * 1024);
}

TEST(ProcStatus, FootprintAndFileAreResidentAndSwap) {
  const auto status = parse_status(kText);
  ASSERT_TRUE(status);
  EXPECT_EQ(status->footprint() + status->file, status->resident() + status->swap);
}

TEST(ProcStatus, NamesTheLineItMisses) {
  const auto status = parse_status("RssAnon:\t1 kB\nRssFile:\t1 kB\n");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(status.error().message, HasSubstr("RssShmem"));
}

TEST(ProcStatus, RefusesHostileNumbers) {
  for (const char* value : {"", " kB", "-1 kB", "9223372036854775807 kB", "99999999999999999999 kB", "1 MB",
                            "1kB", "1 kB x", "0x10 kB", "1,5 kB", "1.5 kB", "+1 kB"})
    EXPECT_EQ(kilobyte_line("A: 3 kB\nRssAnon:\t" + std::string(value) + "\n", "RssAnon"), std::nullopt)
        << value;
}

TEST(ProcStatus, TakesWholeKeysOnly) {
  EXPECT_EQ(kilobyte_line("RssAnonX: 5 kB\nX RssAnon: 6 kB\nRssAnon: 7 kB", "RssAnon"), 7 * 1024);
  EXPECT_EQ(kilobyte_line("", "RssAnon"), std::nullopt);
  EXPECT_EQ(kilobyte_line("RssAnon", "RssAnon"), std::nullopt);
}

TEST(ProcStatus, ReadsItselfInAnyLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"C", "de_DE.UTF-8", "C.UTF-8"}) {
    if (std::setlocale(LC_ALL, locale) == nullptr) continue;
    const auto status = read_own_status();
    ASSERT_TRUE(status) << locale;
    EXPECT_GT(status->anonymous, 0);
    EXPECT_GE(status->high_water, status->resident() / 2);
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(ProcStatus, SaysWhichFileIsMissing) {
  const auto status = read_own_status("/nonexistent");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kEnvironment);
  EXPECT_EQ(status.error().where, "/nonexistent/proc/self/status");
}

}  // namespace
}  // namespace weir::ledger
