#include "ledger/block_heads.h"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "ledger/page_heads.h"

namespace weir::ledger {
namespace {

constexpr std::uint64_t kAddress = 0x7f00'0000'4000;
constexpr std::uint64_t kPool = 16u << 10;

TEST(PythonPool, IsKnownByAHeadThatAgreesWithItself) {
  EXPECT_EQ(python_pool_bytes(python_pool_head(kAddress), kAddress), kPool);
  PythonPoolFields old;
  old.pool_bytes = 4096;
  EXPECT_EQ(python_pool_bytes(python_pool_head(kAddress, old), kAddress), 4096u);
  PythonPoolFields full;
  full.next_offset = static_cast<std::uint32_t>(48 + 64 * 255);
  full.in_use = 255;
  full.free_block = 0;
  EXPECT_EQ(python_pool_bytes(python_pool_head(kAddress, full), kAddress), kPool);
}

TEST(PythonPool, EveryFieldThatHasALawIsChecked) {
  const auto is_pool = [](const PythonPoolFields& fields, std::uint64_t at = kAddress) {
    return python_pool_bytes(python_pool_head(kAddress, fields), at) != 0;
  };
  ASSERT_TRUE(is_pool({}));
  EXPECT_FALSE(is_pool({}, kAddress + 4096)) << "pools are aligned";
  EXPECT_FALSE(is_pool({.size_class = 32}));
  EXPECT_FALSE(is_pool({.in_use = 256}));
  EXPECT_FALSE(is_pool({.next_offset = 48 + 64 * 3 + 16})) << "no multiple of a block";
  EXPECT_FALSE(is_pool({.next_offset = 48})) << "a pool in use has given at least one block";
  EXPECT_FALSE(is_pool({.next_offset = kPool + 48 + 64}));
  EXPECT_FALSE(is_pool({.free_block = kAddress - 64}));
  EXPECT_FALSE(is_pool({.free_block = kAddress + 48 + 16})) << "inside a block";
  EXPECT_FALSE(is_pool({.arena = 1u << 30}));
  PythonPoolFields wrong_end;
  wrong_end.last_offset = 16384;
  EXPECT_FALSE(is_pool(wrong_end));
}

TEST(PythonPool, ZerosAndNoiseAreNone) {
  EXPECT_EQ(python_pool_bytes(PageHead{}, kAddress), 0u);
  std::mt19937_64 random(3);
  for (int round = 0; round < 100'000; ++round) {
    PageHead head;
    for (std::byte& byte : head)
      byte = static_cast<std::byte>(random());
    ASSERT_EQ(python_pool_bytes(head, kAddress), 0u);
  }
}

TEST(MappedBlock, IsKnownByMallocsHeader) {
  EXPECT_EQ(mapped_block_bytes(mapped_block_head(5 * 4096), 1u << 20), 5u * 4096);
  EXPECT_EQ(mapped_block_bytes(mapped_block_head(5 * 4096), 5 * 4096), 5u * 4096);
  EXPECT_EQ(mapped_block_bytes(mapped_block_head(5 * 4096), 4 * 4096), 0u) << "reaches past its mapping";
  EXPECT_EQ(mapped_block_bytes(mapped_block_head(5 * 4096 + 16), 1u << 20), 0u) << "no whole pages";
  EXPECT_EQ(mapped_block_bytes(head_of_words({0, 5 * 4096}), 1u << 20), 0u) << "not marked as mapped";
  EXPECT_EQ(mapped_block_bytes(head_of_words({0, 5 * 4096 | 3}), 1u << 20), 0u) << "a block of an arena";
  EXPECT_EQ(mapped_block_bytes(head_of_words({1, 5 * 4096 | 2}), 1u << 20), 0u);
  EXPECT_EQ(mapped_block_bytes(PageHead{}, 1u << 20), 0u);
}

std::vector<std::byte> blas_table(const std::vector<std::uint64_t>& addresses, std::size_t offset) {
  std::vector<std::byte> data(offset + addresses.size() * 64 + 40, std::byte{0x5a});
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    std::byte* entry = data.data() + offset + i * 64;
    std::memset(entry, 0, 64);
    std::memcpy(entry + 8, &addresses[i], 8);
    entry[16] = std::byte{i % 2 == 0};
  }
  return data;
}

TEST(BlasBuffers, StandInATableOfEntries) {
  using Addresses = std::vector<std::uint64_t>;
  EXPECT_EQ(find_blas_buffers(blas_table({0x7f0002000000, 0x7f0000000000, 0}, 24)),
            (Addresses{0x7f0000000000, 0x7f0002000000}));
  EXPECT_EQ(find_blas_buffers(blas_table({0x7f0002000000, 0}, 8)), Addresses{0x7f0002000000})
      << "beside an unused entry";
  EXPECT_EQ(find_blas_buffers(blas_table({0x7f0002000000}, 8)), Addresses{}) << "no table";
  EXPECT_EQ(find_blas_buffers(blas_table({0x7f0002000010, 0}, 8)), Addresses{}) << "no whole page";
  EXPECT_EQ(find_blas_buffers(blas_table({0, 0, 0}, 8)), Addresses{});
  EXPECT_EQ(find_blas_buffers({}), Addresses{});
}

TEST(BlasBuffers, AnEntryWithAnythingBehindItIsNone) {
  auto data = blas_table({0x7f0002000000, 0}, 0);
  data[20] = std::byte{1};
  EXPECT_TRUE(find_blas_buffers(data).empty());
  data[20] = std::byte{0};
  data[16] = std::byte{2};
  EXPECT_TRUE(find_blas_buffers(data).empty());
}

}  // namespace
}  // namespace weir::ledger
