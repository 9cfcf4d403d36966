#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace weir {

/// SHA-256 as 64 lower-case hexadecimal digits (FIPS 180-4, by libcrypto).
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// The same over a whole file, read in parts.
[[nodiscard]] Result<std::string> sha256_hex(const ReadOnlyFile& file);

}  // namespace weir
