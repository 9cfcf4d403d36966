#include "ledger/governed_layers.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ledger/governed_child.h"
#include "ledger/measured_child.h"
#include "wire/page_file.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

/// Zeroed data of this program, touched only by children that say so.
char zeroed[32 << 20];

std::int64_t part(const Layers& layers, const std::string& name) {
  for (const IdentifiedPart& one : layers.identified_parts)
    if (one.name == name) return one.bytes;
  return -1;
}

void expect_sums(const Layers& layers) {
  EXPECT_EQ(*layers.footprint, explained_bytes(layers) + *layers.unexplained);
  EXPECT_EQ(*layers.footprint + *layers.file, *layers.resident + *layers.swap);
  std::int64_t identified = 0;
  for (const IdentifiedPart& one : layers.identified_parts)
    identified += one.bytes;
  EXPECT_EQ(identified, *layers.identified);
}

PageReading pool_page() {
  PageReading page;
  page.state = wire::PageState::kGoverned;
  page.allocator = wire::Allocator::kWeir;
  page.live = 1000;
  page.retained = 300;
  page.padding = 20;
  page.backed = 1320;
  page.overdraw = 7;
  return page;
}

const ProcStatus kStatus{.anonymous = 5000, .file = 70, .shared = 30, .swap = 5, .high_water = 6000};

TEST(ComputeGovernedLayers, WithoutMapsThePaddingIsIdentifiedAndTheRestIsNot) {
  const Layers layers = compute_governed_layers(pool_page(), kStatus);
  EXPECT_EQ(layers.footprint, 5035);
  EXPECT_EQ(layers.live, 1000);
  EXPECT_EQ(layers.tags, (std::map<std::string, std::int64_t>{{"other", 1000}}));
  EXPECT_EQ(layers.retained, 300);
  EXPECT_EQ(layers.overdraw, 7);
  EXPECT_EQ(layers.identified, 20);
  EXPECT_EQ(part(layers, "pool padding"), 20);
  EXPECT_EQ(layers.unexplained, 5035 - 1320);
  EXPECT_EQ(layers.untouched, std::nullopt);
  EXPECT_EQ(layers.heap_idle, std::nullopt);
  expect_sums(layers);
}

TEST(ComputeGovernedLayers, WithMapsWhatIsBackedAndNotPhysicalIsUntouched) {
  ProcessParts parts;
  parts.pool = 1200;
  parts.heap_arenas = 400;
  parts.main_stack = 11;
  parts.named["[anon:ring]"] = 17;
  Layers layers = compute_governed_layers(pool_page(), kStatus, parts);
  EXPECT_EQ(layers.untouched, 120);
  EXPECT_EQ(layers.identified, 20 + 400 + 11 + 17);
  EXPECT_EQ(part(layers, "C heap, used and idle"), 400);
  expect_sums(layers);
  parts.pool = 1400;
  layers = compute_governed_layers(pool_page(), kStatus, parts);
  EXPECT_EQ(layers.untouched, 0) << "never below";
  expect_sums(layers);
  parts.pool.reset();
  EXPECT_EQ(compute_governed_layers(pool_page(), kStatus, parts).untouched, std::nullopt);
}

TEST(ComputeGovernedLayers, MlxsOwnBuffersAreInTheHeapSoNobodyCanSplitIt) {
  PageReading page = pool_page();
  page.allocator = wire::Allocator::kMlx;
  ProcessParts parts;
  parts.heap_arenas = 400;
  const Layers layers = compute_governed_layers(page, kStatus, parts);
  EXPECT_EQ(part(layers, "C heap, used and idle"), -1);
  EXPECT_EQ(part(layers, "pool padding"), -1);
  EXPECT_EQ(layers.overdraw, std::nullopt) << "no hard cap";
  EXPECT_EQ(layers.unexplained, 5035 - 1300);
  expect_sums(layers);
}

TEST(ComputeGovernedLayers, WhereWeirSwitchedItselfOffItKnowsNoBuffers) {
  PageReading page = pool_page();
  page.state = wire::PageState::kOff;
  const Layers layers = compute_governed_layers(page, kStatus);
  EXPECT_EQ(layers.live, std::nullopt);
  EXPECT_EQ(layers.retained, std::nullopt);
  EXPECT_EQ(layers.overdraw, std::nullopt);
  EXPECT_EQ(layers.unexplained, 5035);
  EXPECT_TRUE(layers.tags.empty());
  expect_sums(layers);
}

/// A child that holds what `body` made, and a page that says what `body` told it.
class Governed {
 public:
  explicit Governed(const std::function<void(wire::CountersPage&)>& body)
      : child_([this, &body] {
          const wire::PageFacts facts{.run = 7, .allocator = wire::Allocator::kWeir};
          body(*wire::make_page(folder_.path().c_str(), facts, nullptr));
        }) {}
  [[nodiscard]] PageReading page() const {
    const auto pages = read_pages(folder_.path(), 7);
    EXPECT_EQ(pages.size(), 1u);
    return pages.empty() ? PageReading{} : pages[0];
  }
  [[nodiscard]] Layers layers(bool with_maps) const {
    return value_or_throw(read_governed_layers(child_.pid(), page(), with_maps));
  }
  GovernedChild& child() { return child_; }

 private:
  PagesFolder folder_;
  GovernedChild child_;
};

/// Address space of a pool: everything reserved, the first part open, of it `touched` bytes written.
void make_pool(wire::CountersPage& page, std::int64_t reserved, std::int64_t open, std::int64_t touched) {
  char* memory = static_cast<char*>(::mmap(nullptr, static_cast<std::size_t>(reserved), PROT_NONE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) std::abort();
  ::mprotect(memory, static_cast<std::size_t>(open), PROT_READ | PROT_WRITE);
  ::madvise(memory, static_cast<std::size_t>(open), MADV_NOHUGEPAGE);
  touch_pages(memory, touched);
  const wire::PageUpdate update(page);
  page.pool_start.store(reinterpret_cast<std::uint64_t>(memory));
  page.pool_end.store(reinterpret_cast<std::uint64_t>(memory) + static_cast<std::uint64_t>(reserved));
  page.live.store(static_cast<std::uint64_t>(20 * kMiB));
  page.retained.store(static_cast<std::uint64_t>(8 * kMiB));
  page.padding.store(static_cast<std::uint64_t>(4 * kMiB));
  page.backed.store(static_cast<std::uint64_t>(32 * kMiB));
}

TEST(GovernedLayers, ThePoolOfAChildIsCountedToThePage) {
  const Governed governed(
      [](wire::CountersPage& page) { make_pool(page, 256 * kMiB, 40 * kMiB, 24 * kMiB); });
  const Layers quick = governed.layers(false);
  expect_sums(quick);
  EXPECT_EQ(quick.live, 20 * kMiB);
  EXPECT_EQ(quick.untouched, std::nullopt);
  const Layers layers = governed.layers(true);
  expect_sums(layers);
  EXPECT_EQ(layers.untouched, 8 * kMiB);
  EXPECT_EQ(part(layers, "pool padding"), 4 * kMiB);
  if (heap_is_glibc()) {
    EXPECT_LT(std::abs(*layers.unexplained), kMiB) << "the rest of a small process is known";
  }
  EXPECT_GT(layers.age_seconds, 0);
}

TEST(GovernedLayers, APoolWhosePagesReachPastItsRangeHasNoUntouched) {
  const Governed governed([](wire::CountersPage& page) {
    make_pool(page, 256 * kMiB, 40 * kMiB, 24 * kMiB);
    page.pool_end.store(page.pool_start.load() + static_cast<std::uint64_t>(30 * kMiB));
  });
  const Layers layers = governed.layers(true);
  expect_sums(layers);
  EXPECT_EQ(layers.untouched, std::nullopt);
}

TEST(GovernedLayers, APlantedMappingIsUnexplained) {
  const Governed governed([](wire::CountersPage&) {
    if (map_touched(50 * kMiB) == nullptr) std::abort();
  });
  const Layers layers = governed.layers(true);
  expect_sums(layers);
  const double allowed = static_cast<double>(heap_is_glibc() ? kMiB : 20 * kMiB);
  EXPECT_NEAR(static_cast<double>(*layers.unexplained), 50 * kMiB, allowed);
}

TEST(GovernedLayers, ZeroedDataAndHeapAndStacksAreIdentified) {
  const Governed governed([](wire::CountersPage&) {
    touch_pages(zeroed, sizeof zeroed);
    for (int i = 0; i < 200; ++i)
      touch_pages(std::malloc(100'000), 100'000);
    int ends[2];
    if (::pipe(ends) != 0) std::abort();
    std::thread([ends] {
      char stack[4 << 20];
      touch_pages(stack, sizeof stack);
      if (::write(ends[1], stack, 1) != 1) std::abort();
      while (true)
        ::pause();
    }).detach();
    char ready;
    if (::read(ends[0], &ready, 1) != 1) std::abort();
  });
  Layers layers = governed.layers(true);
  for (int i = 0; i < 500 && part(layers, "thread stacks") == 0; ++i) {  // not before the thread rests
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    layers = governed.layers(true);
  }
  expect_sums(layers);
  EXPECT_GE(part(layers, "zeroed data of the program and its libraries"), 32 * kMiB);
  EXPECT_GT(part(layers, "main stack"), 0);
  if (!heap_is_glibc()) return;
  EXPECT_GE(part(layers, "C heap, used and idle"), 200 * 100'000);
  const std::int64_t stacks = part(layers, "thread stacks");
  EXPECT_GE(stacks, 4 * kMiB) << "needs /proc/PID/task/TID/syscall of a child";
  EXPECT_LT(stacks, 9 * kMiB);
  EXPECT_LT(std::abs(*layers.unexplained), kMiB);
}

TEST(GovernedLayers, AProcessThatHasEndedIsSaidToHave) {
  Governed governed([](wire::CountersPage&) {});
  const PageReading page = governed.page();
  governed.child().kill();
  for (const bool is_reaped : {false, true}) {
    if (is_reaped) governed.child().reap();
    for (const bool with_maps : {false, true}) {
      const auto layers = read_governed_layers(page.pid, page, with_maps);
      ASSERT_FALSE(layers);
      EXPECT_EQ(layers.error().kind, ErrorKind::kEnvironment);
      EXPECT_THAT(layers.error().message, HasSubstr("has ended"));
    }
  }
}

TEST(GovernedLayers, AnotherProcessWithItsNumberIsNotTakenForIt) {
  PageReading page = pool_page();
  page.start_ticks = 1;
  const auto layers = read_governed_layers(::getpid(), page, false);
  ASSERT_FALSE(layers);
  EXPECT_THAT(layers.error().message, HasSubstr("has ended"));
}

TEST(GovernedLayers, AProcessMayEndAtAnyMomentOfTheRead) {
  constexpr int kRounds = 40;
  int read = 0, ended = 0;
  for (int round = 0; round < kRounds; ++round) {
    Governed governed([](wire::CountersPage& page) { make_pool(page, 64 * kMiB, 8 * kMiB, 8 * kMiB); });
    const PageReading page = governed.page();
    const GovernedChild killer([&] {
      if (::fork() != 0) return;
      ::usleep(static_cast<useconds_t>(round * 100));
      ::kill(page.pid, SIGKILL);
      ::_exit(0);
    });
    while (true) {
      const auto layers = read_governed_layers(page.pid, page, true);
      if (!layers) {
        EXPECT_THAT(layers.error().message, HasSubstr("has ended"));
        ++ended;
        break;
      }
      expect_sums(*layers);
      EXPECT_EQ(layers->untouched, 24 * kMiB) << "a half-gone address space is not taken for a whole one";
      ++read;
    }
  }
  EXPECT_EQ(ended, kRounds);
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace weir::ledger
