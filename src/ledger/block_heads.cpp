#include "ledger/block_heads.h"

#include <algorithm>
#include <cstring>

namespace weir::ledger {
namespace {

constexpr std::uint64_t kPage = 4096;

template <class T>
T value_at(std::span<const std::byte> bytes, std::size_t at) noexcept {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Python's pools

constexpr std::uint64_t kPoolSizes[] = {16u << 10, 4u << 10};
constexpr std::uint32_t kPythonAlignment = 16;
constexpr std::uint32_t kSizeClasses = 512 / kPythonAlignment;
constexpr std::uint32_t kMostArenas = 1u << 24;

bool is_pool(const PageHead& head, std::uint64_t address, std::uint64_t pool_bytes) noexcept {
  if (address % pool_bytes != 0) return false;
  const auto in_use = value_at<std::uint32_t>(head, 0);
  const auto free_block = value_at<std::uint64_t>(head, 8);
  const auto arena = value_at<std::uint32_t>(head, 32);
  const auto size_class = value_at<std::uint32_t>(head, 36);
  const auto next_offset = value_at<std::uint32_t>(head, 40);
  const auto last_offset = value_at<std::uint32_t>(head, 44);
  if (size_class >= kSizeClasses || arena >= kMostArenas) return false;
  const std::uint32_t block = (size_class + 1) * kPythonAlignment;
  if (last_offset != pool_bytes - block) return false;
  if (next_offset < kHeadBytes + block || next_offset > pool_bytes) return false;
  if ((next_offset - kHeadBytes) % block != 0) return false;
  if (in_use > (pool_bytes - kHeadBytes) / block) return false;
  if (free_block == 0) return true;
  return free_block >= address + kHeadBytes && free_block <= address + last_offset &&
         (free_block - address - kHeadBytes) % block == 0;
}

// OpenBLAS' table

constexpr std::size_t kEntryBytes = 64;
constexpr std::size_t kEntryUsed = 20;  // what follows is padding
constexpr std::uint64_t kLowest = 1u << 16;

enum class Entry : std::uint8_t { kNone, kEmpty, kBuffer };

Entry entry_at(std::span<const std::byte> data, std::size_t at) noexcept {
  if (at > data.size() || data.size() - at < kEntryBytes) return Entry::kNone;
  const auto entry = data.subspan(at, kEntryBytes);
  const auto lock = value_at<std::uint64_t>(entry, 0);
  const auto address = value_at<std::uint64_t>(entry, 8);
  const auto in_use = value_at<std::uint32_t>(entry, 16);
  if (lock > 1 || in_use > 1) return Entry::kNone;
  const auto padding = entry.subspan(kEntryUsed);
  if (std::any_of(padding.begin(), padding.end(), [](std::byte byte) { return byte != std::byte{0}; }))
    return Entry::kNone;
  if (address == 0) return Entry::kEmpty;
  return address % kPage == 0 && address >= kLowest ? Entry::kBuffer : Entry::kNone;
}

}  // namespace

std::uint64_t python_pool_bytes(const PageHead& head, std::uint64_t address) noexcept {
  for (const std::uint64_t pool_bytes : kPoolSizes)
    if (is_pool(head, address, pool_bytes)) return pool_bytes;
  return 0;
}

std::uint64_t mapped_block_bytes(const PageHead& head, std::uint64_t room) noexcept {
  constexpr std::uint64_t kFlags = 7, kIsMapped = 2;
  const auto before = value_at<std::uint64_t>(head, 0);
  const auto size = value_at<std::uint64_t>(head, 8);
  const std::uint64_t bytes = size & ~kFlags;
  if (before != 0 || (size & kFlags) != kIsMapped || bytes == 0 || bytes % kPage != 0 || bytes > room)
    return 0;
  return bytes;
}

std::vector<std::uint64_t> find_blas_buffers(std::span<const std::byte> data) {
  std::vector<std::uint64_t> found;
  for (std::size_t at = 0; at + kEntryBytes <= data.size(); at += sizeof(std::uint64_t)) {
    if (entry_at(data, at) != Entry::kBuffer) continue;
    const bool stands_alone = entry_at(data, at + kEntryBytes) == Entry::kNone &&
                              (at < kEntryBytes || entry_at(data, at - kEntryBytes) == Entry::kNone);
    if (!stands_alone) found.push_back(value_at<std::uint64_t>(data, at + 8));
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace weir::ledger
