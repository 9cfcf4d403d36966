#include "ledger/mapping_contents.h"

#include <map>

#include <gtest/gtest.h>

#include "ledger/page_heads.h"

namespace weir::ledger {
namespace {

constexpr std::uint64_t kPage = kMemoryPageBytes;
constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kBase = 0x7f00'0000'0000;

/// Pages are present unless they are named here; heads are zeros unless they are given.
class FakeMemory final : public IOwnMemory {
 public:
  bool page_states(std::uint64_t start, std::span<PageState> into) override {
    for (std::size_t i = 0; i < into.size(); ++i) {
      const auto found = states.find(start + i * kPage);
      into[i] = found == states.end() ? PageState::kPresent : found->second;
    }
    return is_readable;
  }
  void heads(std::span<const std::uint64_t> pages, std::span<PageHead> into) override {
    for (std::size_t i = 0; i < pages.size(); ++i) {
      const auto state = states.find(pages[i]);
      if (state != states.end()) ADD_FAILURE() << "reads a page that is not present";
      const auto found = written.find(pages[i]);
      into[i] = found == written.end() ? PageHead{} : found->second;
      ++heads_read;
    }
  }

  std::map<std::uint64_t, PageState> states;
  std::map<std::uint64_t, PageHead> written;
  bool is_readable = true;
  std::size_t heads_read = 0;
};

Mapping mapping(std::uint64_t start, std::uint64_t size, const char* permissions = "rw-p") {
  Mapping made;
  made.start = start;
  made.end = start + size;
  made.permissions = permissions;
  made.anonymous = permissions[1] == 'w' ? static_cast<std::int64_t>(size) : 0;
  return made;
}

class Contents : public ::testing::Test {
 protected:
  ProcessParts give(const Mapping& one, const Mapping& before = {}, std::int64_t mapped_bytes = 0) {
    MappingContents contents(evidence_, memory_, mapped_bytes);
    ProcessParts parts;
    given_ = contents.give(one, before, parts);
    return parts;
  }

  AddressEvidence evidence_;
  FakeMemory memory_;
  bool given_ = false;
};

std::int64_t all(const ProcessParts& parts) {
  return parts.thread_stacks + parts.main_thread_data + parts.blas_buffers + parts.books +
         parts.library_zeroed + parts.python_objects + parts.mapped_blocks.held;
}

TEST_F(Contents, OfAPlantedMappingAreNobodys) {
  EXPECT_EQ(all(give(mapping(kBase, 200 * kMiB), {}, 64 * kMiB)), 0);
  EXPECT_FALSE(given_);
}

TEST_F(Contents, PoolsOfPythonAreCountedPageByPage) {
  memory_.written[kBase + 4 * kPage] = python_pool_head(kBase + 4 * kPage);
  memory_.written[kBase + 12 * kPage] = python_pool_head(kBase + 12 * kPage);
  memory_.states[kBase + 14 * kPage] = PageState::kNone;
  memory_.states[kBase + 15 * kPage] = PageState::kSwapped;
  EXPECT_EQ(give(mapping(kBase, kMiB)).python_objects, static_cast<std::int64_t>(7 * kPage));
  EXPECT_TRUE(given_);
}

TEST_F(Contents, APoolThatReachesPastItsMappingIsNone) {
  memory_.written[kBase + 4 * kPage] = python_pool_head(kBase + 4 * kPage);
  EXPECT_EQ(all(give(mapping(kBase, 7 * kPage))), 0);
}

TEST_F(Contents, BlocksOfMallocAreBoundByWhatMallocCounts) {
  const std::uint64_t large = 30 * kMiB;
  memory_.written[kBase] = mapped_block_head(large);
  memory_.written[kBase + large + kPage] = mapped_block_head(2 * kMiB);
  memory_.states[kBase + 5 * kPage] = PageState::kNone;
  const Mapping whole = mapping(kBase, 40 * kMiB);
  const auto bytes = static_cast<std::int64_t>(large + 2 * kMiB);
  ProcessParts parts = give(whole, {}, bytes);
  EXPECT_EQ(parts.mapped_blocks.bytes, bytes);
  EXPECT_EQ(parts.mapped_blocks.held, bytes - static_cast<std::int64_t>(kPage));
  EXPECT_EQ(all(give(whole, {}, static_cast<std::int64_t>(large) - 1)), static_cast<std::int64_t>(2 * kMiB))
      << "larger than all of them";
  EXPECT_EQ(all(give(whole, {}, 0)), 0);
}

TEST_F(Contents, AStackReachesFromItsGuardToItsControlBlock) {
  const Mapping guard = mapping(kBase - kPage, kPage, "---p");
  evidence_.thread_blocks = {kBase + 8 * kMiB - 1600};
  EXPECT_EQ(give(mapping(kBase, 8 * kMiB), guard).thread_stacks, static_cast<std::int64_t>(8 * kMiB));
  EXPECT_EQ(memory_.heads_read, 0u) << "all of one owner";
  const ProcessParts merged = give(mapping(kBase, 208 * kMiB), guard);
  EXPECT_EQ(merged.thread_stacks, static_cast<std::int64_t>(8 * kMiB));
  EXPECT_EQ(all(merged), merged.thread_stacks) << "what was planted above it is nobody's";
  EXPECT_EQ(all(give(mapping(kBase, 8 * kMiB))), 0) << "nothing bounds it";
  EXPECT_EQ(all(give(mapping(kBase, 8 * kMiB), mapping(kBase - 3 * kPage, kPage, "---p"))), 0);
}

TEST_F(Contents, TheMainThreadsControlBlockLiesInASmallMapping) {
  evidence_.thread_blocks = {kBase + 5000};
  EXPECT_EQ(give(mapping(kBase, 4 * kPage)).main_thread_data, static_cast<std::int64_t>(4 * kPage));
}

TEST_F(Contents, WorkBuffersOfBlasHaveTheirSizeOrThatOfTheirPlace) {
  evidence_.blas_buffers = {{kBase + kMiB, kBase + 33 * kMiB}};
  EXPECT_EQ(give(mapping(kBase, 100 * kMiB)).blas_buffers, static_cast<std::int64_t>(32 * kMiB));
  EXPECT_EQ(all(give(mapping(kBase, 20 * kMiB))), 0) << "too small for one";
  EXPECT_EQ(all(give(mapping(kBase + 2 * kMiB, 100 * kMiB))), 0) << "does not begin here";
  evidence_.blas_buffers = {{kBase + kMiB, 0}};
  EXPECT_EQ(give(mapping(kBase, 37 * kMiB)).blas_buffers, static_cast<std::int64_t>(32 * kMiB));
}

TEST_F(Contents, OverlappingSignsCountOnce) {
  const Mapping guard = mapping(kBase - kPage, kPage, "---p");
  evidence_.thread_blocks = {kBase + kMiB - 1600};
  evidence_.objects = {{kBase + kMiB / 2, kBase + 2 * kMiB}, {kBase - 8 * kMiB, kBase - 4 * kMiB}};
  evidence_.books = {{kBase + 3 * kMiB, kBase + 4 * kMiB}};
  const ProcessParts parts = give(mapping(kBase, 4 * kMiB), guard);
  EXPECT_EQ(parts.thread_stacks, static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(parts.library_zeroed, static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(parts.books, static_cast<std::int64_t>(kMiB));
}

TEST_F(Contents, NeverCountMoreThanTheMappingHolds) {
  memory_.written[kBase] = mapped_block_head(2 * kMiB);
  Mapping read_only_so_far = mapping(kBase, 2 * kMiB);
  read_only_so_far.anonymous = static_cast<std::int64_t>(kPage);
  EXPECT_EQ(give(read_only_so_far, {}, 4 * kMiB).mapped_blocks.held, static_cast<std::int64_t>(kPage));
}

TEST_F(Contents, StayUnknownWhereTheKernelDoesNotTell) {
  memory_.is_readable = false;
  memory_.written[kBase] = mapped_block_head(2 * kMiB);
  EXPECT_EQ(all(give(mapping(kBase, 2 * kMiB), {}, 4 * kMiB)), 0);
  EXPECT_FALSE(given_);
}

TEST_F(Contents, ReadABoundedNumberOfHeads) {
  MappingContents contents(evidence_, memory_, 0);
  ProcessParts parts;
  const std::uint64_t bytes = (MappingContents::kMostHeads + 4096) * kPage;
  contents.give(mapping(kBase, bytes), {}, parts);
  EXPECT_LE(memory_.heads_read, MappingContents::kMostHeads);
  EXPECT_GT(memory_.heads_read, MappingContents::kMostHeads - 4096);
}

}  // namespace
}  // namespace weir::ledger
