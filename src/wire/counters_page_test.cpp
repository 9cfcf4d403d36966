#include "wire/counters_page.h"

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

struct Field {
  std::size_t offset;
  std::size_t bytes;
};

#define WEIR_FIELD(name)                                       \
  {                                                            \
#name, {                                                   \
      offsetof(CountersPage, name), sizeof(CountersPage::name) \
    }                                                          \
  }

// The bytes of a page. A change here is a new kPageVersion.
//
//     0 ┌───────────────────────────────┬───────────────┬───────────────┐
//       │ magic                         │ version       │ state         │
//    16 ├───────────────┬───────────────┼───────────────┴───────────────┤
//       │ pid           │ allocator     │ start_ticks                   │
//    32 ├───────────────┴───────────────┼───────────────────────────────┤
//       │ run                           │ started_ns                    │
//    48 ├───────────────────────────────┴───────────────────────────────┤
//       │ library, 256 bytes                                            │
//   304 │ command, 128 bytes                                            │
//   432 │ 16 bytes of nothing                                           │
//   448 ├───────────────────────────────┬───────────────────────────────┤
//       │ sequence                      │ cache_limit                   │
//   464 │ 8 bytes each, in this order: memory_limit live retained       │
//       │ padding backed overdraw, 4 peaks, 9 counts of events,         │
//       │ returned moved troubles forks pool_start pool_end             │
//       │ pid_namespace                                                 │
//   664 ├───────────────────────────────────────────────────────────────┤
//       │ zeros                                                         │
//  4096 └───────────────────────────────────────────────────────────────┘
const std::map<std::string, Field> kFields = {
    WEIR_FIELD(magic),        WEIR_FIELD(version),       WEIR_FIELD(state),       WEIR_FIELD(pid),
    WEIR_FIELD(allocator),    WEIR_FIELD(start_ticks),   WEIR_FIELD(run),         WEIR_FIELD(started_ns),
    WEIR_FIELD(library),      WEIR_FIELD(command),       WEIR_FIELD(sequence),    WEIR_FIELD(cache_limit),
    WEIR_FIELD(memory_limit), WEIR_FIELD(live),          WEIR_FIELD(retained),    WEIR_FIELD(padding),
    WEIR_FIELD(backed),       WEIR_FIELD(overdraw),      WEIR_FIELD(live_peak),   WEIR_FIELD(retained_peak),
    WEIR_FIELD(backed_peak),  WEIR_FIELD(overdraw_peak), WEIR_FIELD(allocations), WEIR_FIELD(frees),
    WEIR_FIELD(hits),         WEIR_FIELD(misses),        WEIR_FIELD(refusals),    WEIR_FIELD(overdraws),
    WEIR_FIELD(host_clears),  WEIR_FIELD(host_limits),   WEIR_FIELD(returned),    WEIR_FIELD(moved),
    WEIR_FIELD(troubles),     WEIR_FIELD(forks),         WEIR_FIELD(pool_start),  WEIR_FIELD(pool_end),
    WEIR_FIELD(pid_namespace)};

TEST(CountersPage, TheBytesStandWhereTheMapDrawsThem) {
  EXPECT_EQ(offsetof(CountersPage, magic), 0u);
  EXPECT_EQ(offsetof(CountersPage, version), 8u);
  EXPECT_EQ(offsetof(CountersPage, state), 12u);
  EXPECT_EQ(offsetof(CountersPage, pid), 16u);
  EXPECT_EQ(offsetof(CountersPage, allocator), 20u);
  EXPECT_EQ(offsetof(CountersPage, start_ticks), 24u);
  EXPECT_EQ(offsetof(CountersPage, run), 32u);
  EXPECT_EQ(offsetof(CountersPage, started_ns), 40u);
  EXPECT_EQ(offsetof(CountersPage, library), 48u);
  EXPECT_EQ(offsetof(CountersPage, command), 304u);
  EXPECT_EQ(offsetof(CountersPage, sequence), 448u);
  EXPECT_EQ(offsetof(CountersPage, cache_limit), 456u);
  EXPECT_EQ(offsetof(CountersPage, live), 472u);
  EXPECT_EQ(offsetof(CountersPage, live_peak), 512u);
  EXPECT_EQ(offsetof(CountersPage, allocations), 544u);
  EXPECT_EQ(offsetof(CountersPage, returned), 608u);
  EXPECT_EQ(offsetof(CountersPage, pool_end), 648u);
  EXPECT_EQ(offsetof(CountersPage, pid_namespace), 656u);
}

TEST(CountersPage, TheMagicSpellsItsName) {
  char bytes[8];
  std::memcpy(bytes, &kPageMagic, sizeof bytes);
  EXPECT_EQ(std::string(bytes, 7), "WEIRPG1");
}

TEST(CountersPage, TheReferenceListsEveryFieldAtItsOffset) {
  std::ifstream reference(WEIR_SOURCE_DIR "/docs/reference/page.md");
  ASSERT_TRUE(reference);
  const std::regex row(R"(^\| (\d+) \| (\d+) \| `(\w+)` \|.*)");
  std::map<std::string, Field> listed;
  for (std::string line; std::getline(reference, line);) {
    std::smatch found;
    if (std::regex_match(line, found, row)) listed[found[3]] = {std::stoul(found[1]), std::stoul(found[2])};
  }
  EXPECT_EQ(listed.size(), kFields.size());
  for (const auto& [name, field] : kFields) {
    ASSERT_TRUE(listed.count(name)) << name;
    EXPECT_EQ(listed[name].offset, field.offset) << name;
    EXPECT_EQ(listed[name].bytes, field.bytes) << name;
  }
}

// The reader's side of the protocol, as a program that has the page mapped would write it.
struct Copy {
  std::uint64_t live, retained, backed, pool_end;
};

bool copy_once(const CountersPage& page, Copy& into) {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  const std::uint64_t before = page.sequence.load(std::memory_order_acquire);
  into = {page.live.load(kRelaxed), page.retained.load(kRelaxed), page.backed.load(kRelaxed),
          page.pool_end.load(kRelaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);
  return before % 2 == 0 && page.sequence.load(kRelaxed) == before;
}

TEST(PageUpdate, AReaderNeverSeesHalfAnUpdate) {
  constexpr std::uint64_t kUpdates = 400'000;
  auto page = std::make_unique<CountersPage>();
  std::atomic<bool> done = false;
  std::atomic<std::uint64_t> copies = 0, torn = 0;
  const auto watch = [&] {
    std::uint64_t latest = 0;
    while (!done.load()) {
      Copy copy;
      if (!copy_once(*page, copy)) continue;
      copies.fetch_add(1);
      const bool whole = copy.retained == copy.live && copy.backed == copy.live && copy.pool_end == copy.live;
      if (!whole || copy.live < latest) torn.fetch_add(1);
      latest = copy.live;
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i)
    readers.emplace_back(watch);
  // Readers that get no turn would prove nothing: the writer goes on until enough copies were taken.
  for (std::uint64_t i = 1; i <= kUpdates || copies.load() < 1000; ++i) {
    const PageUpdate update(*page);
    page->live.store(i, std::memory_order_relaxed);
    page->retained.store(i, std::memory_order_relaxed);
    page->backed.store(i, std::memory_order_relaxed);
    page->pool_end.store(i, std::memory_order_relaxed);
  }
  done = true;
  for (std::thread& reader : readers)
    reader.join();
  EXPECT_EQ(torn.load(), 0u);
}

TEST(PageUpdate, TheSequenceIsOddInsideAndTwoFurtherAfter) {
  auto page = std::make_unique<CountersPage>();
  {
    const PageUpdate update(*page);
    EXPECT_EQ(page->sequence.load(), 1u);
  }
  EXPECT_EQ(page->sequence.load(), 2u);
}

}  // namespace
}  // namespace weir::wire
