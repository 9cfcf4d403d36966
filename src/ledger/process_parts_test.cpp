#include "ledger/process_parts.h"

#include <gtest/gtest.h>

namespace weir::ledger {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kArena = 0x7f0000000000;

Mapping mapping(std::uint64_t start, std::uint64_t size, const char* permissions, std::int64_t held,
                const char* name = "", std::uint64_t inode = 0) {
  Mapping made;
  made.start = start;
  made.end = start + size;
  made.permissions = permissions;
  made.name = name;
  made.inode = inode;
  made.anonymous = held;
  return made;
}

std::int64_t total(const ProcessParts& parts) {
  std::int64_t sum =
      parts.heap_arenas + parts.main_stack + parts.thread_stacks + parts.library_data + parts.library_zeroed;
  for (const auto& [name, bytes] : parts.named)
    sum += bytes;
  return sum;
}

TEST(ProcessParts, NamesSettleTheirMappings) {
  const ProcessParts parts = find_process_parts(
      {mapping(0x1000, kMiB, "rw-p", 1, "[heap]"), mapping(0x200000, kMiB, "rw-p", 2, "[stack]"),
       mapping(0x400000, kMiB, "rw-p", 4, "/lib/x.so", 7), mapping(0x600000, kMiB, "rw-p", 8, "[anon:ring]"),
       mapping(0x800000, kMiB, "rw-p", 16, "[anon: glibc: malloc arena]"),
       mapping(0xa00000, kMiB, "rw-p", 32, "[anon: glibc: pthread stack: 12]"),
       mapping(0xc00000, kMiB, "rw-p", 64, "[anon: glibc: malloc]"),
       mapping(0xe00000, kMiB, "r-xp", 128, "[vdso]")},
      {});
  EXPECT_EQ(parts.heap_arenas, 1 + 16);
  EXPECT_EQ(parts.main_stack, 2);
  EXPECT_EQ(parts.library_data, 4);
  EXPECT_EQ(parts.named, (std::map<std::string, std::int64_t>{{"[anon:ring]", 8}}));
  EXPECT_EQ(parts.thread_stacks, 32);
  EXPECT_EQ(total(parts), 63) << "malloc's own mappings belong to the heap statistics";
}

TEST(ProcessParts, SharedMappingsOfFilesAreNoLibraryData) {
  EXPECT_EQ(total(find_process_parts({mapping(0x1000, kMiB, "rw-s", 4, "/dev/shm/x", 7)}, {})), 0);
}

TEST(ProcessParts, AThreadArenaIsAlignedAndReservedToItsBoundary) {
  const Mapping used = mapping(kArena, kMiB, "rw-p", 5);
  EXPECT_EQ(find_process_parts({used, mapping(kArena + kMiB, 63 * kMiB, "---p", 0)}, {}).heap_arenas, 5);
  EXPECT_EQ(find_process_parts({mapping(kArena, 64 * kMiB, "rw-p", 5)}, {}).heap_arenas, 5) << "full";
  EXPECT_EQ(total(find_process_parts({used}, {})), 0) << "nothing reserved behind it";
  EXPECT_EQ(total(find_process_parts({used, mapping(kArena + kMiB, 62 * kMiB, "---p", 0)}, {})), 0);
  EXPECT_EQ(total(find_process_parts({used, mapping(kArena + kMiB, 63 * kMiB, "rw-p", 0)}, {})), 0);
  EXPECT_EQ(total(find_process_parts({mapping(kArena + 4096, kMiB, "rw-p", 5)}, {})), 0);
}

TEST(ProcessParts, AThreadStackHoldsAStackPointerAndIsNoLongerThanOne) {
  AddressEvidence evidence;
  evidence.stack_pointers = {0x7f1000400000};
  evidence.largest_stack_bytes = 8 * kMiB;
  EXPECT_EQ(find_process_parts({mapping(0x7f1000001000, 8 * kMiB, "rw-p", 5)}, evidence).thread_stacks, 5);
  EXPECT_EQ(total(find_process_parts({mapping(0x7f1000001000, 9 * kMiB, "rw-p", 5)}, evidence)), 0)
      << "merged";
  EXPECT_EQ(total(find_process_parts({mapping(0x7f1000401000, kMiB, "rw-p", 5)}, evidence)), 0)
      << "elsewhere";
}

TEST(ProcessParts, ZeroedDataLiesWhollyInsideALoadSegment) {
  AddressEvidence evidence;
  evidence.objects = {{0x10000, 0x20000}};
  EXPECT_EQ(find_process_parts({mapping(0x18000, 0x8000, "rw-p", 5)}, evidence).library_zeroed, 5);
  EXPECT_EQ(total(find_process_parts({mapping(0x18000, 0x9000, "rw-p", 5)}, evidence)), 0);
}

TEST(ProcessParts, WhatLiesInThePoolsRangeIsThePools) {
  AddressEvidence evidence;
  EXPECT_EQ(find_process_parts({mapping(kArena, kMiB, "rw-p", 5)}, evidence).pool, std::nullopt);
  evidence.pool = {kArena, kArena + 256 * kMiB};
  evidence.stack_pointers = {kArena + 1};
  evidence.largest_stack_bytes = 8 * kMiB;
  const ProcessParts parts =
      find_process_parts({mapping(kArena - kMiB, kMiB, "rw-p", 1), mapping(kArena, kMiB, "rw-p", 5),
                          mapping(kArena + kMiB, 63 * kMiB, "---p", 0),
                          mapping(kArena + 64 * kMiB, kMiB, "rw-p", 7, "[anon:weir pool]"),
                          mapping(kArena + 255 * kMiB, 2 * kMiB, "---p", 0)},
                         evidence);
  EXPECT_EQ(parts.pool, 12);
  EXPECT_EQ(total(parts), 0) << "no arena, stack or name";
}

TEST(ProcessParts, APoolOfSeveralRangesIsFoundByItsName) {
  const std::vector<Mapping> mappings = {mapping(kArena, kMiB, "rw-p", 5, "[anon:weir pool]"),
                                         mapping(kArena + 8 * kMiB, kMiB, "rw-p", 7, "[anon:weir pool]"),
                                         mapping(kArena + 16 * kMiB, kMiB, "rw-p", 9, "[anon:weir pools]")};
  ProcessParts parts = find_process_parts(mappings, {});
  EXPECT_EQ(parts.pool, 12);
  EXPECT_EQ(total(parts), 9);
  AddressEvidence evidence;
  evidence.pool = {kArena, kArena + 4 * kMiB};
  parts = find_process_parts(mappings, evidence);
  EXPECT_EQ(parts.pool, 5) << "with a range that bounds it, the rest is its books";
  EXPECT_EQ(parts.named.at("[anon:weir pool]"), 7);
}

TEST(ProcessParts, APoolWhosePagesReachPastItsRangeIsUnknown) {
  AddressEvidence evidence;
  evidence.pool = {kArena, kArena + 256 * kMiB};
  const Mapping inside = mapping(kArena + kMiB, kMiB, "rw-p", 5);
  EXPECT_EQ(find_process_parts({mapping(kArena - 1, kMiB, "rw-p", 1), inside}, evidence).pool, std::nullopt);
  EXPECT_EQ(find_process_parts({inside, mapping(kArena + 255 * kMiB, 2 * kMiB, "rw-p", 1)}, evidence).pool,
            std::nullopt);
}

TEST(ProcessParts, PlainAnonymousMappingsAreInNoPart) {
  EXPECT_EQ(total(find_process_parts({mapping(kArena + 0x2000, 200 * kMiB, "rw-p", 200)}, {})), 0);
}

TEST(StackPointer, StandsBeforeTheProgramCounter) {
  EXPECT_EQ(parse_stack_pointer("230 0x0 0x0 0x1 0x2 0x0 0x3 0x7fa6 0x7fa652\n"), 0x7fa6u);
  EXPECT_EQ(parse_stack_pointer("-1 0x7ff0 0x1234\n"), 0x7ff0u);
}

TEST(StackPointer, RunningAndHostileTextsHaveNone) {
  for (const char* text :
       {"running\n", "", " ", "\n", "1", "1 2 3", "-1 0x 0x1", "-1 0xzz 0x1", "-1 0x11112222333344445 0x1"})
    EXPECT_EQ(parse_stack_pointer(text), std::nullopt) << text;
}

TEST(AddressEvidence, KnowsItsOwnStackAndCode) {
  const AddressEvidence evidence = own_address_evidence();
  const auto code = reinterpret_cast<std::uint64_t>(&own_address_evidence);
  bool found = false;
  for (const AddressRange& range : evidence.objects)
    found |= range.start <= code && code < range.end;
  EXPECT_TRUE(found);
  EXPECT_FALSE(evidence.thread_blocks.empty());
  EXPECT_GT(evidence.largest_stack_bytes, 0u);
}

}  // namespace
}  // namespace weir::ledger
