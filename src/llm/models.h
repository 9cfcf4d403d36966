#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"

namespace weir::llm {

/// The name of the model that comes with weir.
inline constexpr std::string_view kDefaultModel = "smollm2";

/// The model file that a word on the command line means: a known name, else a path. A known name whose file
/// is not installed, or a path that does not exist, is kEnvironment and says what mends it.
[[nodiscard]] Result<std::filesystem::path> find_model(const std::string& name_or_path);

}  // namespace weir::llm
