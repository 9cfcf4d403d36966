#include "wire/counters_page.h"

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "wire/reference_rows.h"

namespace weir::wire {
namespace {

#define WEIR_FIELD(name)                                       \
  {                                                            \
#name, {                                                   \
      offsetof(CountersPage, name), sizeof(CountersPage::name) \
    }                                                          \
  }

#define WEIR_ROW(type, name)                   \
  {                                            \
#name, {                                   \
      offsetof(type, name), sizeof(type::name) \
    }                                          \
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
//   664 ├───────────────┬───────────────┬───────────────────────────────┤
//       │ backend       │ phase         │ tokens                        │
//   680 ├───────────────┴───────────────┼───────────────────────────────┤
//       │ requests                      │ 80 bytes of nothing           │
//   768 ├───────────────────────────────┴───────────────────────────────┤
//       │ size_classes, 40 × 32 bytes                                   │
//  2048 │ zeros                                                         │
//  4096 ├───────────────────────────────┬───────────────────────────────┤
//       │ acts_sequence                 │ acts_done                     │
//  4112 │ 8 bytes each, in this order: sampled_ns, 4 sampled sizes,     │
//       │ devices                                                       │
//  4352 │ acts, 32 × 64 bytes                                           │
//  6400 │ device_rows, 16 × 64 bytes                                    │
//  7424 │ zeros                                                         │
//  8192 └───────────────────────────────────────────────────────────────┘
const Fields kFields = {WEIR_FIELD(magic),
                        WEIR_FIELD(version),
                        WEIR_FIELD(state),
                        WEIR_FIELD(pid),
                        WEIR_FIELD(allocator),
                        WEIR_FIELD(start_ticks),
                        WEIR_FIELD(run),
                        WEIR_FIELD(started_ns),
                        WEIR_FIELD(library),
                        WEIR_FIELD(command),
                        WEIR_FIELD(sequence),
                        WEIR_FIELD(cache_limit),
                        WEIR_FIELD(memory_limit),
                        WEIR_FIELD(live),
                        WEIR_FIELD(retained),
                        WEIR_FIELD(padding),
                        WEIR_FIELD(backed),
                        WEIR_FIELD(overdraw),
                        WEIR_FIELD(live_peak),
                        WEIR_FIELD(retained_peak),
                        WEIR_FIELD(backed_peak),
                        WEIR_FIELD(overdraw_peak),
                        WEIR_FIELD(allocations),
                        WEIR_FIELD(frees),
                        WEIR_FIELD(hits),
                        WEIR_FIELD(misses),
                        WEIR_FIELD(refusals),
                        WEIR_FIELD(overdraws),
                        WEIR_FIELD(host_clears),
                        WEIR_FIELD(host_limits),
                        WEIR_FIELD(returned),
                        WEIR_FIELD(moved),
                        WEIR_FIELD(troubles),
                        WEIR_FIELD(forks),
                        WEIR_FIELD(pool_start),
                        WEIR_FIELD(pool_end),
                        WEIR_FIELD(pid_namespace),
                        WEIR_FIELD(backend),
                        WEIR_FIELD(phase),
                        WEIR_FIELD(tokens),
                        WEIR_FIELD(requests),
                        WEIR_FIELD(size_classes),
                        WEIR_FIELD(acts_sequence),
                        WEIR_FIELD(acts_done),
                        WEIR_FIELD(sampled_ns),
                        WEIR_FIELD(sampled_heap_idle),
                        WEIR_FIELD(sampled_identified),
                        WEIR_FIELD(sampled_untouched),
                        WEIR_FIELD(sampled_unexplained),
                        WEIR_FIELD(devices),
                        WEIR_FIELD(acts),
                        WEIR_FIELD(device_rows)};

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
  EXPECT_EQ(offsetof(CountersPage, backend), 664u);
  EXPECT_EQ(offsetof(CountersPage, phase), 668u);
  EXPECT_EQ(offsetof(CountersPage, tokens), 672u);
  EXPECT_EQ(offsetof(CountersPage, requests), 680u);
  EXPECT_EQ(offsetof(CountersPage, size_classes), 768u);
  EXPECT_EQ(offsetof(CountersPage, acts_sequence), 4096u);
  EXPECT_EQ(offsetof(CountersPage, acts_done), 4104u);
  EXPECT_EQ(offsetof(CountersPage, sampled_ns), 4112u);
  EXPECT_EQ(offsetof(CountersPage, sampled_unexplained), 4144u);
  EXPECT_EQ(offsetof(CountersPage, devices), 4152u);
  EXPECT_EQ(offsetof(CountersPage, acts), 4352u);
  EXPECT_EQ(offsetof(CountersPage, device_rows), 6400u);
  EXPECT_EQ(sizeof(CountersPage), kPageBytes);
}

/// What one row of an array holds.
const std::map<std::string, Fields> kRows = {
    {"size_classes",
     {WEIR_ROW(SizeClass, allocations), WEIR_ROW(SizeClass, hits), WEIR_ROW(SizeClass, retained),
      WEIR_ROW(SizeClass, last_allocation)}},
    {"acts",
     {WEIR_ROW(Act, time_ns), WEIR_ROW(Act, kind), WEIR_ROW(Act, cause), WEIR_ROW(Act, argument),
      WEIR_ROW(Act, released), WEIR_ROW(Act, footprint_before), WEIR_ROW(Act, footprint_after),
      WEIR_ROW(Act, retained_before), WEIR_ROW(Act, retained_after)}},
    {"device_rows",
     {WEIR_ROW(DeviceRow, total), WEIR_ROW(DeviceRow, free), WEIR_ROW(DeviceRow, pool_reserved),
      WEIR_ROW(DeviceRow, pool_used), WEIR_ROW(DeviceRow, name)}}};

TEST(SizeClass, HoldsTheSizesAboveHalfOfItsPowerUpToIt) {
  EXPECT_EQ(size_class(0), 0u);
  EXPECT_EQ(size_class(1), 0u);
  EXPECT_EQ(size_class(2), 1u);
  EXPECT_EQ(size_class(3), 2u);
  EXPECT_EQ(size_class(4), 2u);
  EXPECT_EQ(size_class(5), 3u);
  for (std::size_t c = 2; c < kSizeClasses; ++c) {
    const std::uint64_t largest = std::uint64_t{1} << c;
    EXPECT_EQ(size_class(largest), c);
    EXPECT_EQ(size_class(largest / 2 + 1), c);
  }
  EXPECT_EQ(size_class((std::uint64_t{1} << 39) + 1), kSizeClasses - 1);
  EXPECT_EQ(size_class(~std::uint64_t{0}), kSizeClasses - 1);
}

TEST(CountersPage, TheMagicSpellsItsName) {
  char bytes[8];
  std::memcpy(bytes, &kPageMagic, sizeof bytes);
  EXPECT_EQ(std::string(bytes, 7), "WEIRPG1");
}

TEST(CountersPage, TheReferenceListsEveryFieldAtItsOffset) {
  expect_listed("page.md", "## The bytes", kFields);
  for (const auto& [array, fields] : kRows)
    expect_listed("page.md", "### A row of `" + array + "`", fields);
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
    const PageUpdate acts(page->acts_sequence);
    EXPECT_EQ(page->acts_sequence.load(), 1u);
  }
  EXPECT_EQ(page->sequence.load(), 2u);
  EXPECT_EQ(page->acts_sequence.load(), 2u);
}

}  // namespace
}  // namespace weir::wire
