#pragma once

#include <span>
#include <string>

#include "agent/loaded_library.h"

namespace weir::agent {

/// The eleven functions that the agent stands in front of, as the C++ compiler names them.
[[nodiscard]] std::span<const char* const> interposed_functions() noexcept;

/// What a library says about itself.
struct LibraryFacts {
  std::string version;            ///< mlx::core::version(); "" where it exports none.
  const char* missing = nullptr;  ///< The first of the eleven that it does not define.
  bool cpu_only = false;          ///< It exports metal, cu and gpu::is_available(), and all say no.
  const char* bound_inside =
      nullptr;  ///< allocator() or raw_ptr(), where its own calls cannot be taken over.
};

/// Reads them from the loaded object that holds `function`; nothing known where that is no readable object.
/// Calls the object's own version() and is_available(), which only return constants.
[[nodiscard]] LibraryFacts facts_of(const void* function);

/// "" when weir may answer for a library with these facts: a CPU build of MLX 0.32.0 to 0.32.4 whose own
/// calls reach what stands before it. Else what is wrong, as words that follow the library's path.
[[nodiscard]] std::string objection(const LibraryFacts& facts);

}  // namespace weir::agent
