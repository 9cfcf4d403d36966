#pragma once

#include <cstdint>

namespace weir::place {

inline constexpr std::uint64_t kPageBytes = 4096;           ///< Spans are whole pages.
inline constexpr std::uint64_t kGranuleBytes = 2ULL << 20;  ///< Backing comes and goes by granules.
inline constexpr std::uint64_t kPagesPerGranule = kGranuleBytes / kPageBytes;
inline constexpr std::uint64_t kAlignment = 64;            ///< Of every block.
inline constexpr std::uint64_t kSmallBytes = 64ULL << 10;  ///< Blocks below this live in slabs.
inline constexpr std::uint64_t kNoBound = ~std::uint64_t{0};

/// Milliseconds of the caller's clock; never goes back.
using Tick = std::uint64_t;

/// A byte offset into the address space that the caller manages; granule g is [g, g + 1) × kGranuleBytes.
using Offset = std::uint64_t;
using Granule = std::uint32_t;

}  // namespace weir::place
