#include "ledger/shared_memory.h"

#include <gtest/gtest.h>

namespace weir::ledger {
namespace {

Mapping shared(const char* name, std::int64_t resident, std::uint64_t inode = 7) {
  Mapping made;
  made.start = 0x1000;
  made.end = 0x2000;
  made.permissions = "rw-s";
  made.name = name;
  made.inode = inode;
  made.resident = resident;
  return made;
}

ProcessParts parts_of(const std::vector<Mapping>& mappings) {
  SharedMemory memory;
  ProcessParts parts;
  for (const Mapping& mapping : mappings)
    memory.add(mapping, parts);
  return parts;
}

TEST(SharedMemory, FilesThatLieInMemoryAreKnownByTheirNames) {
  const ProcessParts parts =
      parts_of({shared("/memfd:ring (deleted)", 1), shared("/SYSV00000000 (deleted)", 2),
                shared("/dev/shm/gone (deleted)", 4)});
  EXPECT_EQ(parts.shared_files, 7);
  EXPECT_EQ(parts.counters_page, 0);
}

TEST(SharedMemory, ACountersPageIsWeirsOwn) {
  EXPECT_EQ(parts_of({shared("/dev/shm/12-345.page (deleted)", 8192)}).counters_page, 8192);
  EXPECT_TRUE(is_page_name("12-345.page"));
  for (const char* name : {"12.page", "a-1.page", "1-b.page", "-.page", "1-2.pages", ".page", ""})
    EXPECT_FALSE(is_page_name(name)) << name;
}

TEST(SharedMemory, OtherFilesAndAnonymousMemoryAreNot) {
  const ProcessParts parts =
      parts_of({shared("/dev/zero (deleted)", 1), shared("/no/such/file", 2), shared("", 4, 0),
                shared("/srv/weights (deleted)", 8), shared("[anon_shmem:x]", 16)});
  EXPECT_EQ(parts.shared_files + parts.counters_page, 0);
}

TEST(SharedMemory, WrittenPagesOfAPrivateMappingCountElsewhere) {
  Mapping library = shared("/memfd:library (deleted)", 100);
  library.permissions = "r--p";
  library.anonymous = 30;
  EXPECT_EQ(parts_of({library}).shared_files, 70);
}

}  // namespace
}  // namespace weir::ledger
