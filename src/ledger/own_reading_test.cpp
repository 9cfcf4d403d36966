// Own readings of processes that are hard to read: joined mappings, running threads, many of both.

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "base/file.h"
#include "ledger/measured_child.h"
#include "ledger/own_layers.h"

namespace weir::ledger {
namespace {

constexpr std::int64_t kMB = 1'000'000;
constexpr std::int64_t kPlanted = 200 * kMB / 4096 * 4096;

AllocatorCounters no_buffers() {
  AllocatorCounters counters{.live = 0, .retained = 0, .tags = {}};
  counters.buffers_from_heap = false;
  return counters;
}

Layers read() {
  Layers layers = value_or_throw(read_own_layers(no_buffers()));
  if (*layers.footprint != explained_bytes(layers) + *layers.unexplained) std::abort();
  return layers;
}

std::int64_t part(const Layers& layers, const std::string& name) {
  for (const IdentifiedPart& one : layers.identified_parts)
    if (one.name == name) return one.bytes;
  return 0;
}

void* map_at(std::uintptr_t at, std::size_t bytes, int protection = PROT_READ | PROT_WRITE) {
  return ::mmap(reinterpret_cast<void*>(at), bytes, protection,
                MAP_PRIVATE | MAP_ANONYMOUS | (at == 0 ? 0 : MAP_FIXED_NOREPLACE), -1, 0);
}

/// Whether the mapping that begins at `start` ends behind `at`.
bool reaches_past(std::uint64_t start, std::uint64_t at) {
  for (const Mapping& mapping : value_or_throw(parse_smaps(value_or_throw(read_text("/proc/self/smaps")))))
    if (mapping.start == start) return mapping.end > at;
  return false;
}

TEST(OwnReading, WhatJoinsABlockOfMallocIsNotTheHeaps) {
  if (!heap_is_glibc()) GTEST_SKIP();
  const auto values = measured_in_child([] {
    constexpr std::int64_t kBlock = 64 << 20;
    const Layers before = read();
    char* const block = static_cast<char*>(std::malloc(kBlock));
    touch_pages(block, kBlock);
    const auto start = reinterpret_cast<std::uintptr_t>(block) / 4096 * 4096;
    void* const planted = map_at(start - kPlanted, kPlanted);
    if (planted != reinterpret_cast<void*>(start - kPlanted)) std::abort();
    touch_pages(planted, kPlanted);
    const Layers after = read();
    const bool is_joined = reaches_past(start - kPlanted, start);
    return std::vector<std::int64_t>{is_joined, *after.unexplained - *before.unexplained,
                                     *after.identified - *before.identified - kBlock};
  });
  ASSERT_EQ(values.size(), 3u);
  ASSERT_EQ(values[0], 1) << "one mapping";
  EXPECT_NEAR(values[1], kPlanted, kPlanted / 100);
  EXPECT_LT(std::abs(values[2]), kMB);
}

TEST(OwnReading, ABlockOfMallocThatNobodyTouchedHoldsNothing) {
  if (!heap_is_glibc()) GTEST_SKIP();
  const auto values = measured_in_child([] {
    const Layers before = read();
    void* volatile block = std::malloc(300 * kMB);
    const Layers after = read();
    std::free(block);
    return std::vector<std::int64_t>{*after.unexplained - *before.unexplained,
                                     *after.identified - *before.identified};
  });
  ASSERT_EQ(values.size(), 2u);
  EXPECT_LT(std::abs(values[0]), kMB / 2);
  EXPECT_LT(std::abs(values[1]), kMB / 2);
}

TEST(OwnReading, FindsTheStackOfARunningThread) {
  const auto values = measured_in_child([] {
    std::atomic<bool> ready = false, done = false;
    std::thread thread([&] {
      volatile char deep[2u << 20];
      for (std::size_t at = 0; at < sizeof deep; at += 4096)
        deep[at] = 1;
      ready = true;
      while (!done)
        deep[4096] = deep[8192];
    });
    while (!ready)
      ::usleep(1000);
    const Layers layers = read();
    done = true;
    thread.join();
    return std::vector<std::int64_t>{part(layers, "thread stacks"), *layers.unexplained};
  });
  ASSERT_EQ(values.size(), 2u);
  EXPECT_NEAR(values[0], 2 << 20, 200'000);
  if (heap_is_glibc()) {
    EXPECT_LT(std::abs(values[1]), kMB);
  }
}

/// A thread that sleeps until `gate` opens.
pthread_t start_sleeper(std::atomic<bool>& gate) {
  pthread_attr_t attributes;
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setstacksize(&attributes, 64u << 10);
  pthread_t thread{};
  const auto sleep = [](void* open) -> void* {
    static_cast<std::atomic<bool>*>(open)->wait(false);
    return nullptr;
  };
  if (::pthread_create(&thread, &attributes, sleep, &gate) != 0) std::abort();
  ::pthread_attr_destroy(&attributes);
  return thread;
}

TEST(OwnReading, ManyMappingsAndThreadsCostNoHeapToSpeakOf) {
  if (!heap_is_glibc()) GTEST_SKIP();
  const auto values = measured_in_child([] {
    std::atomic<bool> gate = false;
    std::vector<pthread_t> threads(1'000);
    for (pthread_t& thread : threads)
      thread = start_sleeper(gate);
    char* const many = static_cast<char*>(map_at(0, 20'000 * 4096));
    for (std::size_t i = 0; i < 20'000; i += 2)
      ::mprotect(many + i * 4096, 4096, PROT_NONE);
    (void)read();
    const std::int64_t before = heap_statistics().arena_bytes + heap_statistics().mapped_bytes;
    const Layers layers = read();
    const std::int64_t after = heap_statistics().arena_bytes + heap_statistics().mapped_bytes;
    gate = true;
    gate.notify_all();
    for (const pthread_t thread : threads)
      ::pthread_join(thread, nullptr);
    return std::vector<std::int64_t>{after, part(layers, "thread stacks"), after - before,
                                     *layers.unexplained};
  });
  ASSERT_EQ(values.size(), 4u);
  EXPECT_LT(values[0], 4 * kMB) << "all that the heap ever took";
  EXPECT_GT(values[1], 1'000 * 4096);
  EXPECT_EQ(values[2], 0);
  EXPECT_LT(std::abs(values[3]), 2 * kMB);
}

TEST(OwnReading, SumsHoldWhileMappingsComeAndGo) {
  const auto values = measured_in_child([] {
    std::atomic<bool> done = false;
    std::thread churn([&] {
      for (std::size_t i = 0; !done; ++i) {
        const std::size_t bytes = (i % 64 + 1) * 65536;
        void* const memory = map_at(0, bytes);
        touch_pages(memory, static_cast<std::int64_t>(bytes));
        ::munmap(memory, bytes);
      }
    });
    for (int i = 0; i < 100; ++i)
      (void)read();
    done = true;
    churn.join();
    return std::vector<std::int64_t>{1};
  });
  EXPECT_EQ(values.size(), 1u);
}

TEST(SteadyReading, AsksForTheCountersAroundEachReading) {
  int asked = 0;
  const auto layers = read_steady_own_layers([&] {
    ++asked;
    return no_buffers();
  });
  ASSERT_TRUE(layers) << describe(layers.error());
  EXPECT_EQ(*layers->footprint, explained_bytes(*layers) + *layers->unexplained);
  EXPECT_GE(asked, 2);
  EXPECT_LE(asked, 2 * kMostReadings);
}

TEST(SteadyReading, EndsThoughNothingIsSteady) {
  std::int64_t live = 0;
  int asked = 0;
  const auto layers = read_steady_own_layers([&] {
    ++asked;
    AllocatorCounters counters = no_buffers();
    counters.live = live += 100 * kMB - asked * 10 * kMB;  // less and less
    return counters;
  });
  ASSERT_TRUE(layers) << describe(layers.error());
  EXPECT_LE(asked, 2 * kMostReadings);
  EXPECT_EQ(*layers->footprint, explained_bytes(*layers) + *layers->unexplained);
}

}  // namespace
}  // namespace weir::ledger
