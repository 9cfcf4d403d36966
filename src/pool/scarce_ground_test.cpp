#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "base/file.h"
#include "pool/hard_cap.h"
#include "pool/pool.h"
#include "pool/pool_subject.h"

// Pools in processes that may have little: `ulimit -v` (address space) and `ulimit -d` (writable memory).
// Each body runs in a forked child and answers 0, or the line of what it did not find.
namespace weir::pool {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

#define WANT(condition)                                                            \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return 1;                                                                    \
    }                                                                              \
  } while (false)

/// Bytes of a field of /proc/self/status, such as "VmSize:".
std::uint64_t status_bytes(const char* field) {
  const std::string text = value_or_throw(read_text("/proc/self/status"));
  const auto at = text.find(field);
  return at == std::string::npos ? 0
                                 : std::strtoull(text.c_str() + at + std::strlen(field), nullptr, 10) * 1024;
}

bool limit_to(__rlimit_resource resource, std::uint64_t bytes) {
  const rlimit limit{bytes, bytes};
  return ::setrlimit(resource, &limit) == 0;
}

bool refuses(Pool& pool, std::uint64_t bytes) {
  try {
    (void)pool.allocate(bytes);
    return false;
  } catch (const OverLimit& error) {
    return error.refusal().memory_limit == kUnlimited &&
           std::strstr(error.what(), "the kernel had no more memory") != nullptr;
  }
}

std::vector<void*> fill(Pool& pool, int count, std::uint64_t bytes) {
  std::vector<void*> blocks;
  for (int i = 0; i < count; ++i) {
    blocks.push_back(pool.allocate(bytes));
    std::memset(blocks.back(), 1, bytes);
  }
  return blocks;
}

void free_all(Pool& pool, const std::vector<void*>& blocks) {
  for (void* const block : blocks)
    pool.free(block);
}

/// Works within 512 MiB, is refused what does not fit, goes on, and gives back.
template <Policy kPolicy>
int works_within_a_little() {
  const auto pool = open_pool(kPolicy);
  const std::vector<void*> blocks = fill(*pool, 60, 3 * kMiB);
  WANT(refuses(*pool, 4096 * kMiB));
  WANT(refuses(*pool, 600 * kMiB));
  pool->check_laws();
  for (int i = 0; i < 200; ++i)
    WANT(refuses(*pool, 4096 * kMiB));
  WANT(pool->counters().live == 180 * kMiB);
  void* const more = pool->allocate(20 * kMiB);
  std::memset(more, 2, 20 * kMiB);
  free_all(*pool, blocks);
  pool->free(more);
  pool->trim();
  pool->check_laws();
  WANT(pool->counters().backed == 0);
  void* const large = pool->allocate(300 * kMiB);
  std::memset(large, 3, 300 * kMiB);
  pool->free(large);
  return 0;
}

template <Policy kPolicy>
int under_address_limit() {
  WANT(limit_to(RLIMIT_AS, status_bytes("VmSize:") + 512 * kMiB));
  return works_within_a_little<kPolicy>();
}

template <Policy kPolicy>
int under_data_limit() {
  WANT(limit_to(RLIMIT_DATA, status_bytes("VmData:") + 512 * kMiB));
  return works_within_a_little<kPolicy>();
}

int leaves_addresses_to_the_host() {
  WANT(limit_to(RLIMIT_AS, status_bytes("VmSize:") + 512 * kMiB));
  const auto pool = open_pool(Policy::kWeir);
  const std::uint64_t before = status_bytes("VmSize:");
  free_all(*pool, fill(*pool, 40, 8 * kMiB));
  pool->trim();
  WANT(status_bytes("VmSize:") < before + 8 * kMiB);
  WANT(::mmap(nullptr, 400 * kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  return 0;
}

/// With no limit on what is retained, ranges come and go and are numbered anew many times.
int ranges_come_and_go() {
  WANT(limit_to(RLIMIT_AS, status_bytes("VmSize:") + 512 * kMiB));
  const auto pool = open_pool(Policy::kWeir);
  pool->set_cache_limit(0);
  for (std::uint64_t round = 0; round < 2'000; ++round) {
    void* const small = pool->allocate(100 + round % 1'000);
    void* const large = pool->allocate((1 + round % 90) * kMiB);
    static_cast<char*>(large)[0] = 1;
    pool->free(round % 2 == 0 ? small : large);
    pool->free(round % 2 == 0 ? large : small);
  }
  pool->check_laws();
  WANT(pool->counters().live == 0);
  return 0;
}

TEST(ScarceGround, WorksUnderAnAddressSpaceLimit) {
  EXPECT_EQ(in_child(under_address_limit<Policy::kWeir>), 0);
  EXPECT_EQ(in_child(under_address_limit<Policy::kMlx>), 0);
}

TEST(ScarceGround, WorksUnderADataLimit) {
  EXPECT_EQ(in_child(under_data_limit<Policy::kWeir>), 0);
  EXPECT_EQ(in_child(under_data_limit<Policy::kMlx>), 0);
}

TEST(ScarceGround, UnusedRangesAreLeftToTheHost) {
  EXPECT_EQ(in_child(leaves_addresses_to_the_host), 0);
}

TEST(ScarceGround, RangesComeAndGo) {
  EXPECT_EQ(in_child(ranges_come_and_go), 0);
}

}  // namespace
}  // namespace weir::pool
