#pragma once

#include <type_traits>
#include <utility>

#include "base/error.h"

namespace weir::store {

/// Private to the library. Runs `body`, which throws Failure, and hands back its value or its Error.
template <class Body>
[[nodiscard]] auto guarded(Body body) -> Result<decltype(body())> {
  try {
    if constexpr (std::is_void_v<decltype(body())>) {
      body();
      return {};
    } else {
      return body();
    }
  } catch (const Failure& failure) {
    return tl::unexpected(failure.error());
  }
}

}  // namespace weir::store
