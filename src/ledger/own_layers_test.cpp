#include "ledger/own_layers.h"

#include <malloc.h>
#include <sys/mman.h>
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "ledger/measured_child.h"
#include "ledger/noted_memory.h"

namespace weir::ledger {
namespace {

constexpr std::int64_t kMB = 1'000'000;
constexpr std::int64_t kPlanted = 200 * kMB;

Layers read(const AllocatorCounters& counters = {.live = 0, .retained = 0, .tags = {}}) {
  return value_or_throw(read_own_layers(counters));
}

std::int64_t part(const Layers& layers, const std::string& name) {
  for (const IdentifiedPart& one : layers.identified_parts)
    if (one.name == name) return one.bytes;
  return 0;
}

void expect_sums(const Layers& layers) {
  EXPECT_EQ(*layers.footprint, explained_bytes(layers) + *layers.unexplained);
  EXPECT_EQ(*layers.footprint + *layers.file, *layers.resident + *layers.swap);
  std::int64_t identified = 0;
  for (const IdentifiedPart& one : layers.identified_parts)
    identified += one.bytes;
  EXPECT_EQ(identified, *layers.identified);
}

TEST(ComputeLayers, BothSumsHoldExactly) {
  const ProcStatus status{.anonymous = 1000, .file = 70, .shared = 30, .swap = 5, .high_water = 2000};
  const HeapStatistics heap{.arena_bytes = 500, .in_use_bytes = 300, .free_bytes = 200, .mapped_bytes = 400};
  ProcessParts parts;
  parts.heap_arenas = 350;
  parts.heap_arena_addresses = 500;
  parts.main_stack = 11;
  parts.library_data = 13;
  parts.named["[anon:ring]"] = 17;
  parts.python_objects = 23;
  parts.blas_buffers = 29;
  parts.counters_page = 31;
  const Layers layers = compute_layers({.live = 500, .retained = 100, .tags = {{"kv", 500}}}, status, heap,
                                       parts, {{"noted", 19}});
  EXPECT_EQ(layers.footprint, 1035);
  EXPECT_EQ(layers.heap_idle, 50) << "150 of the free bytes are not physical";
  EXPECT_EQ(layers.identified, (300 + 400 - 600) + 11 + 13 + 17 + 19 + 23 + 29 + 31);
  EXPECT_EQ(layers.unexplained, 1035 - 500 - 100 - 50 - *layers.identified);
  EXPECT_EQ(layers.untouched, 0);
  EXPECT_EQ(layers.tags.at("kv"), 500);
  expect_sums(layers);
}

TEST(ComputeLayers, HeapIdleStaysBetweenNothingAndWhatTheHeapCallsFree) {
  ProcessParts parts;
  parts.heap_arenas = 100;
  const auto idle = [&](std::int64_t in_use, std::int64_t free) {
    const HeapStatistics heap{
        .arena_bytes = 0, .in_use_bytes = in_use, .free_bytes = free, .mapped_bytes = 0};
    return *compute_layers({}, {}, heap, parts, {}).heap_idle;
  };
  EXPECT_EQ(idle(90, 500), 10);
  EXPECT_EQ(idle(200, 500), 0) << "blocks in use that nobody touched";
  EXPECT_EQ(idle(10, 20), 20) << "a foreign mapping that looks like an arena";
}

/// An arena of 300 bytes in use, all of them physical unless said otherwise.
Layers with_heap(const AllocatorCounters& counters, const MappedBlocks& found, std::int64_t mapped_bytes,
                 std::int64_t physical = 300) {
  const HeapStatistics heap{
      .arena_bytes = 300, .in_use_bytes = 300, .free_bytes = 0, .mapped_bytes = mapped_bytes};
  ProcessParts parts;
  parts.heap_arenas = physical;
  parts.heap_arena_addresses = 300;
  parts.mapped_blocks = found;
  const Layers layers = compute_layers(counters, {}, heap, parts, {});
  expect_sums(layers);
  return layers;
}

TEST(ComputeLayers, BuffersOutsideTheHeapAreNotTakenFromIt) {
  AllocatorCounters counters{.live = 1000, .retained = 0, .tags = {}};
  EXPECT_EQ(with_heap(counters, {}, 0).identified, 0) << "clamped";
  counters.buffers_from_heap = false;
  EXPECT_EQ(with_heap(counters, {}, 0).identified, 300);
}

TEST(ComputeLayers, TheHeapInUseIsWhatItMakesTheKernelHold) {
  AllocatorCounters counters{.live = 0, .retained = 0, .tags = {}};
  counters.buffers_from_heap = false;
  EXPECT_EQ(with_heap(counters, {.bytes = 1000, .held = 400}, 1000).identified, 300 + 400);
  EXPECT_EQ(with_heap(counters, {.bytes = 600, .held = 400}, 1000).identified, 300 + 400 + 400)
      << "a block that was not found counts as malloc says";
  EXPECT_EQ(with_heap(counters, {}, 0, 250).identified, 250) << "not yet touched";
}

TEST(ComputeLayers, AnArenaThatNoRuleFoundCountsAsTheHeapSays) {
  AllocatorCounters counters{.live = 0, .retained = 0, .tags = {}};
  counters.buffers_from_heap = false;
  const HeapStatistics heap{.arena_bytes = 500, .in_use_bytes = 300, .free_bytes = 200, .mapped_bytes = 0};
  EXPECT_EQ(compute_layers(counters, {}, heap, {}, {}).identified, 300);
}

TEST(ComputeLayers, BuffersInTheHeapThatNobodyTouchedAreUntouched) {
  const AllocatorCounters counters{.live = 1000, .retained = 100, .tags = {}};
  const Layers layers = with_heap(counters, {.bytes = 1000, .held = 400}, 1000);
  EXPECT_EQ(layers.untouched, 600);
  EXPECT_EQ(layers.identified, 200) << "the rest of the heap in use";
  const Layers strangers =
      with_heap({.live = 100, .retained = 0, .tags = {}}, {.bytes = 1000, .held = 0}, 1000);
  EXPECT_EQ(strangers.untouched, 100) << "at most the buffers";
  EXPECT_EQ(explained_bytes(strangers), 300);
}

TEST(ComputeLayers, WhatMlxsOwnAllocatorHoldsBesideAPoolIsAPartOfTheHeap) {
  AllocatorCounters counters{.live = 0, .retained = 0, .tags = {}};
  counters.buffers_from_heap = false;
  counters.beside_pool = 120;
  const Layers layers = with_heap(counters, {}, 0);
  EXPECT_EQ(part(layers, "held by MLX's own allocator beside the pool"), 120);
  EXPECT_EQ(layers.identified, 300);
  counters.beside_pool = 1 << 20;
  EXPECT_EQ(with_heap(counters, {}, 0).identified, 300) << "no more than the heap holds";
}

TEST(ComputeLayers, LiveBytesWithoutTagsAreOther) {
  const Layers layers = compute_layers({.live = 7, .retained = 0, .tags = {}}, {}, {}, {}, {});
  EXPECT_EQ(layers.tags, (std::map<std::string, std::int64_t>{{"other", 7}}));
}

TEST(ComputeLayers, APoolsPaddingIsIdentifiedAndWhatItNeverTouchedIsTakenOff) {
  const ProcStatus status{.anonymous = 2000, .file = 0, .shared = 0, .swap = 0, .high_water = 2000};
  ProcessParts parts;
  parts.pool = 1500;
  AllocatorCounters counters{.live = 1000, .retained = 600, .tags = {}};
  counters.buffers_from_heap = false;
  counters.padding = 100;
  counters.overdraw = 7;
  const Layers layers = compute_layers(counters, status, {}, parts, {});
  EXPECT_EQ(part(layers, "pool padding"), 100);
  EXPECT_EQ(layers.untouched, 200);
  EXPECT_EQ(layers.overdraw, 7);
  EXPECT_EQ(layers.unexplained, 500) << "what lies outside the pool";
  expect_sums(layers);
  parts.pool = 5000;
  EXPECT_EQ(compute_layers(counters, status, {}, parts, {}).untouched, 0) << "never negative";
}

TEST(ComputeLayers, UnexplainedMayBeNegative) {
  EXPECT_EQ(compute_layers({.live = 1000, .retained = 0, .tags = {}}, {}, {}, {}, {}).unexplained, -1000);
}

TEST(OwnLayers, AddUp) {
  const Layers layers = read();
  expect_sums(layers);
  EXPECT_GT(*layers.footprint, 0);
  EXPECT_GE(layers.age_seconds, 0);
}

TEST(OwnLayers, LittleOfAQuietProcessIsUnexplained) {
  if (!heap_is_glibc()) GTEST_SKIP();
  const Layers layers = read();
  EXPECT_LT(std::abs(*layers.unexplained), 1 * kMB);
}

TEST(OwnLayers, APlantedMappingIsUnexplained) {
  const auto values = measured_in_child([] {
    const std::int64_t before = *read().unexplained;
    if (map_touched(kPlanted) == nullptr) std::abort();
    const Layers after = read();
    return std::vector<std::int64_t>{*after.unexplained - before, *after.unexplained};
  });
  ASSERT_EQ(values.size(), 2u);
  EXPECT_NEAR(values[0], kPlanted, kPlanted / 100);
  if (heap_is_glibc()) {
    EXPECT_NEAR(values[1], kPlanted, kPlanted / 100);
  }
}

TEST(OwnLayers, ANotedMappingIsIdentifiedByItsResidentPages) {
  const auto values = measured_in_child([] {
    const std::int64_t before = *read().unexplained;
    void* memory = ::mmap(nullptr, kPlanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(memory, kPlanted, MADV_NOHUGEPAGE);
    touch_pages(memory, kPlanted / 2);
    std::vector<std::int64_t> result;
    {
      const NotedMemory noted = note_own_mapping("planted", memory, kPlanted);
      const NotedMemory given = note_own_bytes("given", 7);
      const Layers layers = read();
      result = {part(layers, "planted"), part(layers, "given"), *layers.unexplained - before};
    }
    result.push_back(part(read(), "planted"));
    return result;
  });
  ASSERT_EQ(values.size(), 4u);
  EXPECT_NEAR(values[0], kPlanted / 2, 4096);
  EXPECT_EQ(values[1], 7);
  EXPECT_LT(std::abs(values[2]), 1 * kMB);
  EXPECT_EQ(values[3], 0) << "forgotten";
}

/// 300 MB in blocks of 64 KiB below one block that stays, then all but that one freed.
std::vector<std::int64_t> idle_before_and_after_trim() {
  constexpr std::size_t kBlock = 64u << 10;
  constexpr std::int64_t kTotal = 300 * kMB;
  const Layers before = read();
  std::vector<void*> blocks(kTotal / kBlock);
  for (void*& block : blocks)
    touch_pages(block = std::malloc(kBlock), kBlock);
  void* stays = std::malloc(kBlock);
  touch_pages(stays, kBlock);
  const Layers full = read();
  for (void* block : blocks)
    std::free(block);
  const Layers freed = read();
  const std::int64_t given_back = value_or_throw(trim_heap());
  const Layers trimmed = read();
  std::free(stays);
  return {*freed.heap_idle - *before.heap_idle, *trimmed.heap_idle, given_back,
          *full.identified - *before.identified, *trimmed.unexplained - *before.unexplained};
}

void expect_idle_and_trimmed(const std::vector<std::int64_t>& values) {
  ASSERT_EQ(values.size(), 5u);
  EXPECT_NEAR(values[0], 300 * kMB, 3 * kMB) << "idle once freed";
  EXPECT_LT(values[1], 2 * kMB) << "idle after the trim";
  EXPECT_NEAR(values[2], 300 * kMB, 6 * kMB) << "given back";
  EXPECT_NEAR(values[3], 300 * kMB, 6 * kMB) << "heap in use while held";
  EXPECT_LT(std::abs(values[4]), 1 * kMB) << "unexplained";
}

TEST(OwnLayers, FreedHeapIsIdleUntilTrimmed) {
  if (!heap_is_glibc()) GTEST_SKIP();
  expect_idle_and_trimmed(measured_in_child(idle_before_and_after_trim));
}

TEST(OwnLayers, FreedHeapOfAThreadsArenaIsIdleUntilTrimmed) {
  if (!heap_is_glibc()) GTEST_SKIP();
  expect_idle_and_trimmed(measured_in_child([] {
    std::vector<std::int64_t> values;
    std::thread([&] { values = idle_before_and_after_trim(); }).join();
    return values;
  }));
}

TEST(OwnLayers, BuffersOfTheAllocatorAreNotHeapInUseAsWell) {
  if (!heap_is_glibc()) GTEST_SKIP();
  const auto values = measured_in_child([] {
    const Layers before = read();
    constexpr std::int64_t kBuffer = 50 * kMB;
    void* large = std::malloc(kBuffer);
    touch_pages(large, kBuffer);
    const Layers after = read({.live = kBuffer, .retained = 0, .tags = {}});
    std::free(large);
    return std::vector<std::int64_t>{*after.identified - *before.identified,
                                     *after.unexplained - *before.unexplained};
  });
  ASSERT_EQ(values.size(), 2u);
  EXPECT_LT(std::abs(values[0]), kMB / 2);
  EXPECT_LT(std::abs(values[1]), kMB);
}

TEST(OwnLayers, FindsTheStackOfABlockedThread) {
  const auto values = measured_in_child([] {
    std::atomic<bool> ready = false;
    std::atomic<bool> done = false;
    std::thread thread([&] {
      volatile char deep[2u << 20];
      for (std::size_t at = 0; at < sizeof deep; at += 4096)
        deep[at] = 1;
      ready = true;
      ready.notify_all();
      done.wait(false);
    });
    ready.wait(false);
    Layers layers;
    for (int tries = 0; tries < 100 && part(layers, "thread stacks") == 0; ++tries) {
      ::usleep(10'000);  // until the thread sleeps: a running one has no known stack pointer
      layers = read();
    }
    done = true;
    done.notify_all();
    thread.join();
    return std::vector<std::int64_t>{part(layers, "thread stacks")};
  });
  ASSERT_EQ(values.size(), 1u);
  EXPECT_NEAR(values[0], 2 << 20, 200'000);
}

}  // namespace
}  // namespace weir::ledger
