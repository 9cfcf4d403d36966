#pragma once

#include <cstdint>
#include <string>

namespace weir {

/// "33,554,432": exact, independent of the locale.
[[nodiscard]] std::string with_commas(std::int64_t number);

/// "33,554,432 bytes".
[[nodiscard]] std::string exact_bytes(std::int64_t bytes);

/// For people, decimal units with three significant digits: "1.88 GB", "142 MB", "512 B"; keeps the sign.
[[nodiscard]] std::string short_bytes(std::int64_t bytes);

}  // namespace weir
