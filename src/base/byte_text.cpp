#include "base/byte_text.h"

#include <cmath>

#include <fmt/format.h>

namespace weir {

std::string with_commas(std::int64_t number) {
  const std::string digits = fmt::format(
      "{}", number < 0 ? 0 - static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number));
  std::string out = number < 0 ? "-" : "";
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string exact_bytes(std::int64_t bytes) {
  return with_commas(bytes) + (bytes == 1 ? " byte" : " bytes");
}

std::string short_bytes(std::int64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  double value = std::fabs(static_cast<double>(bytes));
  int unit = 0;
  while (value >= 999.5 && unit < 6) {
    value /= 1000;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{}{:.{}f} {}", bytes < 0 ? "-" : "", value, decimals, kUnits[unit]);
}

}  // namespace weir
