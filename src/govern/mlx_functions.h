#pragma once

#include <string>

#include "base/error.h"
#include "wire/memory_table.h"

namespace weir::govern {

/// MLX's own memory functions in the libmlx that this process has loaded, found past any definition that
/// interposes them, and the path of that library. kEnvironment where there is no such library or it lacks
/// one of them.
struct MlxFunctions {
  [[nodiscard]] static Result<MlxFunctions> find();

  weir_memory_table table{};
  std::string library;
};

}  // namespace weir::govern
