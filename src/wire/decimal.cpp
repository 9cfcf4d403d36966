#include "wire/decimal.h"

namespace weir::wire {

std::size_t print_decimal(std::uint64_t value, char* at) noexcept {
  char backwards[kDecimalDigits];
  std::size_t count = 0;
  do {
    backwards[count++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (std::size_t i = 0; i < count; ++i)
    at[i] = backwards[count - 1 - i];
  return count;
}

const char* take_decimal(const char* from, const char* end, std::uint64_t& into) noexcept {
  constexpr std::uint64_t kLargest = ~std::uint64_t{0};
  std::uint64_t value = 0;
  const char* at = from;
  for (; at < end && *at >= '0' && *at <= '9'; ++at) {
    const auto digit = static_cast<std::uint64_t>(*at - '0');
    if (value > (kLargest - digit) / 10) return nullptr;
    value = value * 10 + digit;
  }
  if (at == from || (*from == '0' && at != from + 1)) return nullptr;
  into = value;
  return at;
}

}  // namespace weir::wire
