#include "pool/address_space.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <string>

#include "pool/kernel_calls.h"
#include "pool/pool_subject.h"

namespace weir::pool {
namespace {

using place::kGranuleBytes;

SpaceOptions small_space() {
  SpaceOptions options;
  options.reserve_bytes = 64 << 20;
  return options;
}

std::byte* granule(const AddressSpace& space, place::Granule number) {
  return space.address_of(number * kGranuleBytes);
}

void fill(std::byte* start, unsigned char value) {
  std::memset(start, value, kGranuleBytes);
}

/// A line of /proc/self/smaps for the mapping around `address`, such as "VmFlags:".
std::string smaps_line(const void* address, const std::string& key) {
  std::ifstream smaps("/proc/self/smaps");
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(smaps, line);) {
    unsigned long start = 0;
    unsigned long end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &start, &end) == 2) inside = at >= start && at < end;
    if (inside && line.rfind(key, 0) == 0) return line;
  }
  return {};
}

TEST(AddressSpace, IsOneAlignedReservation) {
  const AddressSpace space(small_space());
  ASSERT_EQ(space.ranges().size(), 1u);
  EXPECT_EQ(space.ranges()[0].bytes(), 64u << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(space.ranges()[0].start) % kGranuleBytes, 0u);
}

TEST(AddressSpace, PointersAndOffsetsNameEachOther) {
  AddressSpace space(small_space());
  ASSERT_NE(space.add_range(1), nullptr);
  ASSERT_NE(space.add_range(70 << 20), nullptr);
  ASSERT_EQ(space.ranges().size(), 3u);
  for (const Range& range : space.ranges()) {
    for (const std::uint64_t inside : {std::uint64_t{0}, std::uint64_t{4096}, range.bytes() - 1}) {
      EXPECT_EQ(space.offset_of(range.start + inside), range.offset() + inside);
      EXPECT_EQ(space.address_of(range.offset() + inside), range.start + inside);
    }
  }
  int elsewhere = 0;
  EXPECT_EQ(space.offset_of(&elsewhere), std::nullopt);
  EXPECT_EQ(space.offset_of(nullptr), std::nullopt);
}

TEST(AddressSpace, RangesAreNumberedWithAGapSoThatNoRunSpansTwo) {
  AddressSpace space(small_space());
  ASSERT_NE(space.add_range(1), nullptr);
  EXPECT_GT(space.ranges()[1].first, space.ranges()[0].end());
}

TEST(AddressSpace, MarksEachBlockOnce) {
  AddressSpace space(small_space());
  ASSERT_TRUE(space.back(0, 32));
  EXPECT_FALSE(space.is_marked(128));
  space.mark(128);
  space.mark(kGranuleBytes * 31);
  EXPECT_TRUE(space.is_marked(128));
  EXPECT_FALSE(space.is_marked(64));
  EXPECT_FALSE(space.is_marked(130));
  EXPECT_EQ(space.count_marks(), 2u);
  EXPECT_TRUE(space.unmark(128));
  EXPECT_FALSE(space.unmark(128));
  EXPECT_EQ(space.count_marks(), 1u);
}

TEST(AddressSpace, GivingBackLeavesNothingInMemory) {
  AddressSpace space(small_space());
  ASSERT_TRUE(space.back(2, 3));
  for (const place::Granule number : {2u, 3u, 4u})
    fill(granule(space, number), 7);
  EXPECT_EQ(resident_bytes(granule(space, 2), 3 * kGranuleBytes), 3 * kGranuleBytes);
  space.give_back(2, 2);
  EXPECT_EQ(resident_bytes(granule(space, 2), 2 * kGranuleBytes), 0u);
  EXPECT_EQ(*granule(space, 4), std::byte{7});
  EXPECT_EQ(space.returned_bytes(), 2 * kGranuleBytes);
  EXPECT_EQ(space.backed_granules(), 1u);
}

TEST(AddressSpace, GivingBackWhatIsNotBackedChangesNothing) {
  AddressSpace space(small_space());
  space.give_back(0, 8);
  EXPECT_EQ(space.returned_bytes(), 0u);
  EXPECT_EQ(space.backed_granules(), 0u);
}

TEST(AddressSpace, MovedPagesAreThereWithoutAFault) {
  AddressSpace space(small_space());
  ASSERT_TRUE(space.back(1, 2));
  fill(granule(space, 1), 11);
  fill(granule(space, 2), 12);
  ASSERT_TRUE(space.move(1, 20, 2));
  if (!space.moves()) GTEST_SKIP() << "this kernel does not move pages";
  EXPECT_EQ(*granule(space, 20), std::byte{11});
  EXPECT_EQ(*granule(space, 21), std::byte{12});
  EXPECT_EQ(resident_bytes(granule(space, 1), 2 * kGranuleBytes), 0u);
  EXPECT_EQ(space.moved_bytes(), 2 * kGranuleBytes);
  EXPECT_EQ(space.backed_granules(), 2u);
  fill(granule(space, 1), 13);  // the addresses left behind are usable again
  EXPECT_EQ(*granule(space, 20), std::byte{11});
}

TEST(AddressSpace, AMovedGranuleStillAsksForHugePages) {
  AddressSpace space(small_space());
  const std::string before = smaps_line(granule(space, 20), "VmFlags:");
  ASSERT_TRUE(space.back(1, 1));
  fill(granule(space, 1), 11);
  ASSERT_TRUE(space.move(1, 20, 1));
  EXPECT_EQ(smaps_line(granule(space, 20), "VmFlags:"), before);
  space.give_back(20, 1);
  EXPECT_EQ(smaps_line(granule(space, 20), "VmFlags:"), before);
}

TEST(AddressSpace, ReturnedGranulesJoinTheirNeighboursAgain) {
  AddressSpace space(small_space());
  ASSERT_TRUE(space.back(0, 4));
  for (const place::Granule number : {0u, 1u, 2u, 3u})
    fill(granule(space, number), 1);
  for (const place::Granule number : {0u, 1u, 2u, 3u})
    ASSERT_TRUE(space.move(number, 10 + 2 * number, 1));
  if (!space.moves()) GTEST_SKIP() << "this kernel does not move pages";
  EXPECT_EQ(space.cuts(), 8u);
  for (const place::Granule number : {0u, 1u, 2u, 3u})
    space.give_back(10 + 2 * number, 1);
  EXPECT_EQ(space.cuts(), 0u);
}

TEST(AddressSpace, MovesStopWhereMappingsRunOut) {
  SpaceOptions options = small_space();
  options.most_mappings = 8;
  AddressSpace space(options);
  ASSERT_TRUE(space.back(0, 8));
  for (place::Granule number = 0; number < 8; ++number) {
    fill(granule(space, number), 1);
    ASSERT_TRUE(space.move(number, 10 + 2 * number, 1));
    fill(granule(space, 10 + 2 * number), 2);
  }
  EXPECT_LE(space.cuts(), 8u);
  EXPECT_EQ(space.backed_granules(), 8u);
  EXPECT_EQ(space.troubles(), 0u);
}

TEST(AddressSpace, AFailedMoveFallsBackAndIsCounted) {
  const KernelFaults faults;
  AddressSpace space(small_space());
  ASSERT_TRUE(space.back(1, 1));
  fill(granule(space, 1), 5);
  kernel::fail_calls(kernel::only(kernel::Call::kMove), 0, 1);
  ASSERT_TRUE(space.move(1, 9, 1));
  EXPECT_EQ(space.troubles(), 1u);
  EXPECT_EQ(space.moved_bytes(), 0u);
  EXPECT_EQ(resident_bytes(granule(space, 1), kGranuleBytes), 0u);
  fill(granule(space, 9), 6);
}

TEST(AddressSpace, AHoleThatCannotBeMendedRefusesBackingUntilItCan) {
  const KernelFaults faults;
  AddressSpace space(small_space());
  ASSERT_TRUE(space.back(1, 1));
  fill(granule(space, 1), 5);
  kernel::fail_calls(kernel::only(kernel::Call::kMove) | kernel::only(kernel::Call::kMap), 0, 100);
  EXPECT_FALSE(space.move(1, 9, 1));
  EXPECT_FALSE(space.back(9, 1));
  EXPECT_EQ(space.backed_granules(), 0u);
  kernel::fail_calls(0, 0, 0);
  ASSERT_TRUE(space.back(9, 1));
  fill(granule(space, 9), 6);
}

TEST(AddressSpace, ChargingByGranuleMakesOnlyBackedGranulesWritable) {
  SpaceOptions options = small_space();
  options.charging = Charging::kByGranule;
  AddressSpace space(options);
  EXPECT_FALSE(space.moves());
  ASSERT_TRUE(space.back(3, 2));
  fill(granule(space, 3), 1);
  EXPECT_EQ(smaps_line(granule(space, 2), "VmFlags:").find(" wr "), std::string::npos);
  EXPECT_NE(smaps_line(granule(space, 3), "VmFlags:").find(" wr "), std::string::npos);
  space.give_back(3, 2);
  EXPECT_EQ(smaps_line(granule(space, 3), "VmFlags:").find(" wr "), std::string::npos);
  ASSERT_TRUE(space.back(3, 1));
  fill(granule(space, 3), 2);
}

TEST(AddressSpace, TakesLessWhereTheKernelRefuses) {
  const KernelFaults faults;
  SpaceOptions options;
  options.reserve_bytes = 4ULL << 30;
  kernel::fail_calls(kernel::only(kernel::Call::kMap), 0, 2);
  const AddressSpace halved(options);
  ASSERT_EQ(halved.ranges().size(), 1u);
  EXPECT_EQ(halved.ranges()[0].bytes(), 1ULL << 30);
  kernel::fail_calls(kernel::only(kernel::Call::kMap), 0, 1'000);
  const AddressSpace none(options);
  EXPECT_TRUE(none.ranges().empty());
}

TEST(AddressSpace, ARangeIsAtLeastWhatItMustHold) {
  SpaceOptions options;
  AddressSpace space(options);
  EXPECT_TRUE(space.ranges().empty());
  ASSERT_NE(space.add_range(100), nullptr);
  EXPECT_EQ(space.ranges()[0].bytes(), 64u << 20);
  ASSERT_NE(space.add_range((100 << 20) + 1), nullptr);
  EXPECT_EQ(space.ranges()[1].bytes(), 102u << 20);
  EXPECT_EQ(space.add_range(1ULL << 46), nullptr);
  space.remove_range(space.ranges()[0].first);
  ASSERT_EQ(space.ranges().size(), 1u);
  EXPECT_EQ(space.ranges()[0].bytes(), 102u << 20);
}

}  // namespace
}  // namespace weir::pool
