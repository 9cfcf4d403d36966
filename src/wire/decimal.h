#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::wire {

/// Digits of the largest 64-bit number.
inline constexpr std::size_t kDecimalDigits = 20;

/// Writes the digits at `at` (kDecimalDigits bytes of room) and returns how many; no zero follows them.
std::size_t print_decimal(std::uint64_t value, char* at) noexcept;

/// Takes the digits at the start of [from, end): no sign, no leading zero, at most 2^64 − 1. Returns where
/// they end, or null (and `into` untouched) where there is no such number.
[[nodiscard]] const char* take_decimal(const char* from, const char* end, std::uint64_t& into) noexcept;

}  // namespace weir::wire
