#pragma once

#include <filesystem>

#include "base/error.h"

namespace weir::price {

/// Proves before any work that a folder takes a file of this size: makes one, gives it its bytes, removes it.
/// Refused or read-only is kEnvironment, a full disk kNoRoom; the message names the folder and `mend`.
[[nodiscard]] Result<void> check_room(const std::filesystem::path& folder, std::size_t size_bytes,
                                      const std::string& mend);

/// The same for a file that is to be written later. An existing folder, device or pipe of that name is
/// kUsage: writing replaces the name, and only a regular file may be replaced. Symbolic links are followed.
[[nodiscard]] Result<std::filesystem::path> check_output_file(const std::filesystem::path& file,
                                                              const std::string& mend);

}  // namespace weir::price
