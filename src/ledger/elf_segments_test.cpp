#include "ledger/elf_segments.h"

#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "base/file.h"

namespace weir::ledger {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kBase = 0x7f0000000000;

Mapping mapping(std::uint64_t start, std::uint64_t end, std::uint64_t offset) {
  Mapping made;
  made.start = start;
  made.end = end;
  made.offset = offset;
  made.permissions = "r--p";
  made.inode = 7;
  made.name = "/lib/x.so";
  return made;
}

/// Code at 0, data at 0x3df0 in the file that goes on for three zeroed pages in memory.
const std::vector<LoadSegment> kSegments = {{0, 0, 0x1234}, {0x2df0, 0x3df0, 0x4000}};

TEST(PlaceSegments, ZeroedDataReachesPastTheFile) {
  const auto placed = place_segments(
      kSegments, {mapping(kBase, kBase + 0x2000, 0), mapping(kBase + 0x3000, kBase + 0x5000, 0x2000)}, kPage);
  ASSERT_EQ(placed.size(), 2u);
  EXPECT_EQ(placed[0].start, kBase);
  EXPECT_EQ(placed[0].end, kBase + 0x2000);
  EXPECT_EQ(placed[1].start, kBase + 0x3000);
  EXPECT_EQ(placed[1].end, kBase + 0x8000);
}

TEST(PlaceSegments, AFileThatIsOnlyReadIsNotLoaded) {
  EXPECT_TRUE(place_segments(kSegments, {mapping(kBase, kBase + 0x9000, 0)}, kPage).empty());
  EXPECT_TRUE(place_segments(kSegments, {}, kPage).empty());
  EXPECT_TRUE(place_segments({}, {mapping(kBase, kBase + 0x9000, 0)}, kPage).empty());
}

TEST(PlaceSegments, AFileMayBeLoadedTwice) {
  const std::uint64_t second = kBase + 0x100000;
  EXPECT_EQ(
      place_segments(kSegments,
                     {mapping(kBase, kBase + 0x2000, 0), mapping(kBase + 0x3000, kBase + 0x5000, 0x2000),
                      mapping(second, second + 0x2000, 0), mapping(second + 0x3000, second + 0x5000, 0x2000)},
                     kPage)
          .size(),
      4u);
}

TEST(LoadSegments, TextsAndCutHeadersHaveNone) {
  std::ifstream in("/proc/self/exe", std::ios::binary);
  std::string head(4096, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  EXPECT_GE(parse_load_segments(head).size(), 2u);
  EXPECT_TRUE(parse_load_segments(head.substr(0, 200)).empty());
  EXPECT_TRUE(parse_load_segments("#!/bin/sh").empty());
  EXPECT_TRUE(parse_load_segments("").empty());
  head[1] = 'X';
  EXPECT_TRUE(parse_load_segments(head).empty());
}

TEST(MappedLoadSegments, AgreeWithTheDynamicLinker) {
  const auto mappings = value_or_throw(parse_smaps(value_or_throw(read_text("/proc/self/smaps"))));
  const auto found = mapped_load_segments(::getpid(), mappings);
  const auto in_found = [&](const AddressRange& range) {
    return std::any_of(found.begin(), found.end(), [&](const AddressRange& one) {
      return one.start == range.start && one.end == range.end;
    });
  };
  int missing = 0, all = 0;
  for (const AddressRange& range : own_address_evidence().objects) {
    ++all;
    missing += in_found(range) ? 0 : 1;
  }
  EXPECT_GT(all, 8);
  EXPECT_LE(missing, 1) << "the kernel's own object has no file";
}

}  // namespace
}  // namespace weir::ledger
