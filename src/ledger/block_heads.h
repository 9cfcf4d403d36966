#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weir::ledger {

inline constexpr std::size_t kHeadBytes = 48;
/// The first bytes of a page.
using PageHead = std::array<std::byte, kHeadBytes>;

/// How many bytes from `address` on are a pool of Python's object allocator (pymalloc of CPython 3.7 and
/// later): 16 KiB, or 4 KiB before 3.10; 0: it is none. Its head must agree with itself in every field that
/// has a law. Pure.
///
///   0   blocks in use      8   first free block: in this pool, or null
///   16  next pool          24  previous pool
///   32  arena              36  size class: blocks of (class + 1) × 16 bytes
///   40  offset of what was never used           44  largest offset where a block fits
[[nodiscard]] std::uint64_t python_pool_bytes(const PageHead& head, std::uint64_t address) noexcept;

/// How many bytes from this page on are a block that glibc's malloc mapped on its own; 0: it is none. Its
/// header: 8 bytes of 0, then the mapping's size with bit 1 (IS_MMAPPED) set. At most `room`. Pure.
[[nodiscard]] std::uint64_t mapped_block_bytes(const PageHead& head, std::uint64_t room) noexcept;

/// Addresses of work buffers in a piece of OpenBLAS' writable data: entries of its table `memory`, 64 bytes
/// each, of which at least two stand together, used or not. The addresses are candidates: whoever knows the
/// mappings checks that they can hold a buffer. Pure; any bytes.
///
///   0  lock: 0 or 1      8  address: whole pages      16  in use: 0 or 1      20..63  zeros
[[nodiscard]] std::vector<std::uint64_t> find_blas_buffers(std::span<const std::byte> data);

}  // namespace weir::ledger
