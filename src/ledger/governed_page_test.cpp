#include "ledger/governed_page.h"

#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/governed_child.h"
#include "ledger/outside_text.h"
#include "wire/page_file.h"

namespace weir::ledger {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

std::string own_page(const std::function<void(wire::CountersPage&)>& fill = [](wire::CountersPage&) {}) {
  return page_bytes(fill);
}

std::string refusal(const fs::path& file) {
  const auto page = GovernedPage::open(file);
  if (page) return "";
  EXPECT_EQ(page.error().kind, ErrorKind::kBadData) << file;
  return page.error().message;
}

/// A child with a page in `folder` for run 7 whose counters are all set to `value`.
void publish(const fs::path& folder, std::uint64_t value, std::uint64_t run = 7) {
  const wire::PageFacts facts{
      .run = run, .allocator = wire::Allocator::kWeir, .library = "/lib/libmlx.so", .forked = false};
  wire::CountersPage* page = wire::make_page(folder.c_str(), facts, nullptr);
  const wire::PageUpdate update(*page);
  page->state.store(static_cast<std::uint32_t>(wire::PageState::kGoverned));
  page->live.store(value);
  page->overdraw_peak.store(value);
  page->hits.store(value);
  page->pool_end.store(value);
}

TEST(GovernedPage, ReadsWhatAnotherProcessWrites) {
  const PagesFolder folder;
  const GovernedChild child([&] { publish(folder.path(), 123); });
  const auto page = value_or_throw(GovernedPage::open(folder.path() / page_file_name(7, child.pid())));
  const PageReading reading = value_or_throw(page.read());
  EXPECT_EQ(reading.pid, child.pid());
  EXPECT_EQ(reading.run, 7u);
  EXPECT_EQ(reading.state, wire::PageState::kGoverned);
  EXPECT_EQ(reading.allocator, wire::Allocator::kWeir);
  EXPECT_EQ(reading.library, "/lib/libmlx.so");
  EXPECT_EQ(reading.command, "weir_ledger_test");
  EXPECT_EQ(reading.cache_limit, wire::kNoLimit);
  EXPECT_EQ(reading.live, 123);
  EXPECT_EQ(reading.overdraw_peak, 123);
  EXPECT_EQ(reading.hits, 123u);
  EXPECT_EQ(reading.pool_end, 123u);
  EXPECT_EQ(reading.retained, 0);
  EXPECT_TRUE(reading.alive);
  EXPECT_FALSE(reading.torn);
}

TEST(GovernedPage, TheDeadKeepTheirLastValues) {
  const PagesFolder folder;
  GovernedChild child([&] { publish(folder.path(), 123); });
  const auto page = value_or_throw(GovernedPage::open(folder.path() / page_file_name(7, child.pid())));
  child.kill();
  EXPECT_FALSE(value_or_throw(page.read()).alive) << "a zombie holds nothing";
  child.reap();
  const PageReading reading = value_or_throw(page.read());
  EXPECT_FALSE(reading.alive);
  EXPECT_EQ(reading.live, 123);
}

TEST(GovernedPage, AnotherProcessWithTheSameNumberIsNotIt) {
  const PagesFolder folder;
  folder.put("x", own_page([](wire::CountersPage& page) { page.start_ticks.store(1); }));
  EXPECT_FALSE(value_or_throw(value_or_throw(GovernedPage::open(folder.path() / "x")).read()).alive);
}

/// The calling thread on one processor while this lives, where there are as many.
class Pinned {
 public:
  explicit Pinned(int processor) {
    ::sched_getaffinity(0, sizeof before_, &before_);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    ::sched_setaffinity(0, sizeof one, &one);
  }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;
  ~Pinned() { ::sched_setaffinity(0, sizeof before_, &before_); }

 private:
  cpu_set_t before_;
};

/// Between two updates: some three times what a reader needs for a copy, so that it meets whole ones and torn
/// ones on machines of any speed.
constexpr int kRestTurns = 20'000;

void spin(int turns) {
  for (int i = 0; i < turns; ++i)
    __asm__ volatile("");
}

/// Leaves a reader time to look between two stores of one update.
void write_slowly(wire::CountersPage& page, std::uint64_t value) {
  const wire::PageUpdate update(page);
  page.live.store(value, std::memory_order_relaxed);
  spin(150);
  page.backed_peak.store(value, std::memory_order_relaxed);
  spin(150);
  page.pool_end.store(value, std::memory_order_relaxed);
}

/// The same for one act, numbered from 1.
void act_slowly(wire::CountersPage& page, std::uint64_t number) {
  const wire::PageUpdate update(page.acts_sequence);
  wire::Act& act = page.acts[(number - 1) % wire::kActs];
  page.acts_done.store(number, std::memory_order_relaxed);
  act.kind.store(static_cast<std::uint32_t>(wire::ActKind::kTrim), std::memory_order_relaxed);
  act.cause.store(static_cast<std::uint32_t>(wire::ActCause::kIdle), std::memory_order_relaxed);
  act.time_ns.store(number, std::memory_order_relaxed);
  spin(150);
  act.retained_after.store(number, std::memory_order_relaxed);
  spin(150);
  page.sampled_ns.store(number, std::memory_order_relaxed);
}

TEST(GovernedPage, NoCopyMixesTwoUpdates) {
  const PagesFolder folder;
  const GovernedChild child([&] {
    wire::CountersPage* page = wire::make_page(folder.path().c_str(), {.run = 7}, nullptr);
    std::thread([page] {
      const Pinned pinned(1);  // side by side with the reader, or nothing overlaps
      for (std::uint64_t i = 1;; ++i) {
        write_slowly(*page, i);
        spin(kRestTurns);
      }
    }).detach();
  });
  const auto page = value_or_throw(GovernedPage::open(folder.path() / page_file_name(7, child.pid())));
  const Pinned pinned(0);
  std::int64_t latest = 0;
  constexpr int kReads = 10'000;
  int whole = 0;
  for (int i = 0; i < 100'000 && whole < kReads; ++i) {
    const PageReading reading = value_or_throw(page.read_last());
    if (reading.torn) continue;
    ++whole;
    ASSERT_EQ(reading.live, reading.backed_peak);
    ASSERT_EQ(static_cast<std::uint64_t>(reading.live), reading.pool_end);
    ASSERT_GE(reading.live, latest);
    latest = reading.live;
  }
  EXPECT_EQ(whole, kReads);
  EXPECT_GT(latest, 1000) << "the writer wrote meanwhile";
}

TEST(GovernedPage, AWriterThatDiedInsideAnUpdateHasNoConsistentCopy) {
  const PagesFolder folder;
  GovernedChild child([&] {
    wire::CountersPage* page = wire::make_page(folder.path().c_str(), {.run = 7}, nullptr);
    new wire::PageUpdate(*page);
    page->live.store(5);
  });
  const fs::path file = folder.path() / page_file_name(7, child.pid());
  const auto page = value_or_throw(GovernedPage::open(file));
  EXPECT_THAT(page.read().error().message, HasSubstr("stands still inside an update"));
  child.kill();
  child.reap();
  const auto read = page.read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(read.error().message, HasSubstr("died inside an update"));
  const PageReading last = value_or_throw(page.read_last());
  EXPECT_TRUE(last.torn);
  EXPECT_EQ(last.live, 5);
  ASSERT_EQ(read_pages(folder.path(), 7).size(), 1u);
  EXPECT_TRUE(read_pages(folder.path(), 7)[0].torn);
}

TEST(GovernedPage, NoCopyMixesTwoActs) {
  const PagesFolder folder;
  const GovernedChild child([&] {
    wire::CountersPage* page = wire::make_page(folder.path().c_str(), {.run = 7}, nullptr);
    std::thread([page] {
      const Pinned pinned(1);
      for (std::uint64_t i = 1;; ++i) {
        act_slowly(*page, i);
        spin(kRestTurns);
      }
    }).detach();
  });
  const auto page = value_or_throw(GovernedPage::open(folder.path() / page_file_name(7, child.pid())));
  const Pinned pinned(0);
  constexpr int kReads = 5'000;
  int whole = 0;
  for (int i = 0; i < 50'000 && whole < kReads; ++i) {
    const PageReading reading = value_or_throw(page.read_last());
    if (reading.torn || reading.acts.empty()) continue;
    ++whole;
    ASSERT_EQ(reading.acts.back().time_ns, reading.acts_done);
    ASSERT_EQ(reading.acts.back().retained_after, static_cast<std::int64_t>(reading.acts_done));
    ASSERT_EQ(reading.sample->ns, reading.acts_done);
  }
  EXPECT_EQ(whole, kReads);
}

TEST(GovernedPage, AWriterThatDiedInsideAnActLeavesTheLastValues) {
  const PagesFolder folder;
  GovernedChild child([&] {
    wire::CountersPage* page = wire::make_page(folder.path().c_str(), {.run = 7}, nullptr);
    page->live.store(5);
    new wire::PageUpdate(page->acts_sequence);
    page->acts_done.store(1);
  });
  const auto page = value_or_throw(GovernedPage::open(folder.path() / page_file_name(7, child.pid())));
  EXPECT_FALSE(page.read());
  child.kill();
  child.reap();
  const PageReading last = value_or_throw(page.read_last());
  EXPECT_TRUE(last.torn);
  EXPECT_EQ(last.live, 5);
  EXPECT_TRUE(last.acts.empty());
}

TEST(GovernedPage, WhatIsNoPageIsRefusedInWords) {
  const PagesFolder folder;
  const fs::path& root = folder.path();
  folder.put("short", own_page(), 8191);
  folder.put("long", own_page(), 8193);
  folder.put("empty", "", 0);
  folder.put("zeros", "");
  folder.put("version", own_page([](wire::CountersPage& page) { page.version.store(1); }));
  folder.put("state", own_page([](wire::CountersPage& page) { page.state.store(4); }));
  folder.put("allocator", own_page([](wire::CountersPage& page) { page.allocator.store(3); }));
  folder.put("former", own_page(), 4096);
  folder.put("pid", own_page([](wire::CountersPage& page) { page.pid.store(0); }));
  folder.put("pool", own_page([](wire::CountersPage& page) { page.pool_start.store(2); }));
  folder.put("page", own_page());
  fs::create_directory(root / "folder");
  fs::create_symlink(root / "page", root / "link");
  ASSERT_EQ(::mkfifo((root / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(refusal(root / "page"), "");
  EXPECT_THAT(refusal(root / "short"), HasSubstr("8191 bytes long instead of 8,192"));
  EXPECT_THAT(refusal(root / "long"), HasSubstr("8193 bytes long"));
  EXPECT_THAT(refusal(root / "former"), HasSubstr("4096 bytes long"));
  EXPECT_THAT(refusal(root / "empty"), HasSubstr("0 bytes long"));
  EXPECT_THAT(refusal(root / "zeros"), HasSubstr("not a counters page, or not yet finished"));
  EXPECT_THAT(refusal(root / "version"), HasSubstr("another version"));
  EXPECT_THAT(refusal(root / "state"), HasSubstr("state"));
  EXPECT_THAT(refusal(root / "allocator"), HasSubstr("allocator"));
  EXPECT_THAT(refusal(root / "pid"), HasSubstr("process number"));
  EXPECT_THAT(refusal(root / "pool"), HasSubstr("pool"));
  EXPECT_THAT(refusal(root / "folder"), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal(root / "link"), HasSubstr("a symbolic link"));
  EXPECT_THAT(refusal(root / "fifo"), HasSubstr("not a regular file")) << "and does not wait for a writer";
  EXPECT_EQ(GovernedPage::open(root / "absent").error().kind, ErrorKind::kEnvironment);
}

TEST(GovernedPage, AHugeFileIsRefusedUnread) {
  const PagesFolder folder;
  folder.put("huge", own_page());
  ASSERT_EQ(::truncate((folder.path() / "huge").c_str(), off_t{1} << 42), 0);
  EXPECT_THAT(refusal(folder.path() / "huge"), HasSubstr("4398046511104 bytes long"));
}

TEST(GovernedPage, AForeignFileIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const PagesFolder folder;
  folder.put("foreign", own_page());
  ASSERT_EQ(::chown((folder.path() / "foreign").c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(folder.path() / "foreign"), HasSubstr("another user"));
}

TEST(GovernedPage, APageCutShortWhileOpenIsAnError) {
  const PagesFolder folder;
  folder.put("page", own_page());
  const auto page = value_or_throw(GovernedPage::open(folder.path() / "page"));
  for (const off_t length : {8191, 7423, 4100, 500, 100, 0}) {
    ASSERT_EQ(::truncate((folder.path() / "page").c_str(), length), 0);
    const auto reading = page.read();
    if (length > 8000) continue;  // nothing that is read stands there
    ASSERT_FALSE(reading) << length;
    EXPECT_EQ(reading.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(reading.error().message, HasSubstr("cut the page short"));
  }
}

TEST(GovernedPage, TextsAreFitForATerminalAndForJson) {
  const std::string bytes = own_page([](wire::CountersPage& page) {
    std::memset(page.command, 'x', sizeof page.command);
    std::strcpy(page.library, "/\x1b[2J/\xff/caf\xc3\xa9/\xc2\x9b/\xed\xa0\x80/\xc3");
  });
  const PageReading reading = value_or_throw(parse_page(bytes, "page"));
  EXPECT_EQ(reading.command, std::string(128, 'x'));
  EXPECT_EQ(reading.library, "/?[2J/?/caf\xc3\xa9/?\?/?\?\?/?");
}

TEST(OutsideText, KeepsEveryFitCharacterAndNothingElse) {
  EXPECT_EQ(fit_for_output(""), "");
  EXPECT_EQ(fit_for_output("a\xe2\x82\xac\xf0\x9f\x8c\x8az"), "a\xe2\x82\xac\xf0\x9f\x8c\x8az");
  EXPECT_EQ(fit_for_output("\xc0\xaf"), "??") << "overlong";
  EXPECT_EQ(fit_for_output("\xe0\x81\x81"), "???") << "overlong";
  EXPECT_EQ(fit_for_output("\xf4\x90\x80\x80"), "????") << "past the last character";
  EXPECT_EQ(fit_for_output("\xe2\x82"), "??") << "cut";
  EXPECT_EQ(fit_for_output(std::string("\0\n\x7f", 3)), "???");
}

}  // namespace
}  // namespace weir::ledger
