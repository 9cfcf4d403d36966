#include "ledger/smaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"

namespace weir::ledger {
namespace {

using ::testing::HasSubstr;

TEST(Smaps, ReadsEveryMappingWithItsDetails) {
  const auto mappings = parse_smaps(
      "55d0c0a00000-55d0c0a21000 rw-p 00000000 00:00 0                          [heap]\n"
      "Size:                132 kB\nRss:                 100 kB\nPrivate_Dirty:        96 kB\n"
      "Anonymous:            92 kB\nTHPeligible:    0\nSwap:                  4 kB\nVmFlags: rd wr mr \n"
      "7f0000000000-7f0000001000 r--s 00001000 fe:00 77                         /a b (deleted)\nAnonymous: 8 "
      "kB\n");
  ASSERT_TRUE(mappings) << describe(mappings.error());
  ASSERT_EQ(mappings->size(), 2u);
  const Mapping& heap = mappings->front();
  EXPECT_EQ(heap.start, 0x55d0c0a00000u);
  EXPECT_EQ(heap.size(), 0x21000u);
  EXPECT_EQ(heap.name, "[heap]");
  EXPECT_EQ(heap.resident, 100 * 1024);
  EXPECT_EQ(heap.private_dirty, 96 * 1024);
  EXPECT_EQ(heap.held(), 96 * 1024) << "anonymous and swapped";
  EXPECT_EQ(mappings->back().name, "/a b (deleted)");
  EXPECT_EQ(mappings->back().inode, 77u);
  EXPECT_EQ(mappings->back().held(), 0) << "shared pages are RssShmem or RssFile";
}

TEST(Smaps, KeysThatBeginLikeAnAddressAreKeys) {
  // 'A' and 'F' are hexadecimal digits.
  const auto mappings =
      parse_smaps("1000-2000 rw-p 0 00:00 0\nAnonHugePages: 0 kB\nFilePmdMapped: 0 kB\nAnonymous: 4 kB");
  ASSERT_TRUE(mappings);
  EXPECT_EQ(mappings->front().anonymous, 4096);
  EXPECT_TRUE(mappings->front().is_unnamed());
}

TEST(Smaps, RefusesHostileTextAndNamesTheLine) {
  const char* const kTexts[] = {
      "Rss: 1 kB\n",
      "\n",
      "zz-2000 rw-p 0 00:00 0\n",
      "2000-1000 rw-p 0 00:00 0\n",
      "1000-1000 rw-p 0 00:00 0\n",
      "1000-2000\n",
      "1000-2000 rw 0 00:00 0\n",
      "1000-2000 rw-p 0 00:00 x\n",
      "1000-2000 rw-p 0 0000 0\n",
      "1000-11112222333344445 rw-p 0 00:00 0\n",
  };
  for (const char* text : kTexts) {
    const auto mappings = parse_smaps(text);
    ASSERT_FALSE(mappings) << text;
    EXPECT_EQ(mappings.error().kind, ErrorKind::kBadData);
    EXPECT_THAT(mappings.error().message, HasSubstr("line 1 ")) << text;
  }
  for (const char* detail :
       {"Rss: 9223372036854775807 kB", "Rss: -4 kB", "Anonymous: 4", "no key", ": 4 kB", "Swap: x kB"})
    EXPECT_FALSE(parse_smaps("1000-2000 rw-p 0 00:00 0\n" + std::string(detail) + "\n")) << detail;
}

TEST(Smaps, AnEmptyTextIsNoMapping) {
  const auto mappings = parse_smaps("");
  ASSERT_TRUE(mappings);
  EXPECT_TRUE(mappings->empty());
}

TEST(SmapsReader, ReadsTheSameInPiecesOfAnySize) {
  const auto text = read_text("/proc/self/smaps");
  ASSERT_TRUE(text);
  const auto whole = parse_smaps(*text);
  ASSERT_TRUE(whole);
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{4096}}) {
    std::vector<Mapping> pieces;
    SmapsReader reader([&](const Mapping& mapping) { pieces.push_back(mapping); });
    for (std::size_t at = 0; at < text->size(); at += size)
      ASSERT_TRUE(reader.feed(std::string_view(*text).substr(at, size)));
    ASSERT_TRUE(reader.finish());
    ASSERT_EQ(pieces.size(), whole->size());
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      EXPECT_EQ(pieces[i].start, (*whole)[i].start);
      EXPECT_EQ(pieces[i].name, (*whole)[i].name);
      EXPECT_EQ(pieces[i].held(), (*whole)[i].held());
    }
  }
}

TEST(SmapsReader, RefusesALineWithoutEnd) {
  SmapsReader reader([](const Mapping&) {});
  const std::string piece(40'000, 'x');
  EXPECT_TRUE(reader.feed(piece));
  EXPECT_FALSE(reader.feed(piece));
}

TEST(Smaps, ReadsItsOwnProcess) {
  const auto text = read_text("/proc/self/smaps");
  ASSERT_TRUE(text);
  const auto mappings = parse_smaps(*text);
  ASSERT_TRUE(mappings) << describe(mappings.error());
  EXPECT_TRUE(
      std::any_of(mappings->begin(), mappings->end(), [](const Mapping& m) { return m.name == "[stack]"; }));
}

}  // namespace
}  // namespace weir::ledger
