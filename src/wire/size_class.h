#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::wire {

/// Sizes of blocks, by powers of two: class c holds requests of (2^(c-1), 2^c] bytes, the last all above.
inline constexpr std::size_t kSizeClasses = 40;

/// Which class a request of `bytes` belongs to.
[[nodiscard]] constexpr std::size_t size_class(std::uint64_t bytes) noexcept {
  const auto bits = static_cast<std::size_t>(bytes <= 1 ? 0 : std::bit_width(bytes - 1));
  return bits < kSizeClasses ? bits : kSizeClasses - 1;
}

/// What became of the requests of one size class.
struct SizeClass {
  std::atomic<std::uint64_t> allocations;
  std::atomic<std::uint64_t> hits;
  std::atomic<std::uint64_t> retained;         ///< Bytes that MLX's rule keeps of it; 0 under `weir`.
  std::atomic<std::uint64_t> last_allocation;  ///< The page's `allocations` at its latest one.
};

}  // namespace weir::wire
