#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace weir::ledger {

/// Runs `body` in a forked child, so that its heap, mappings and kernel marks are its own, and returns what
/// it returned. A child that ends badly returns nothing (an empty list) and fails the calling test.
[[nodiscard]] std::vector<std::int64_t> measured_in_child(
    const std::function<std::vector<std::int64_t>()>& body);

/// Maps anonymous memory and touches every page; null on failure.
[[nodiscard]] void* map_touched(std::int64_t bytes);

/// Writes to every page of existing memory.
void touch_pages(void* memory, std::int64_t bytes);

/// The sanitizers' own malloc has no statistics and no arenas.
[[nodiscard]] constexpr bool heap_is_glibc() {
#ifdef __SANITIZE_ADDRESS__
  return false;
#else
#ifdef __has_feature
#if __has_feature(address_sanitizer)
  return false;
#endif
#endif
  return true;
#endif
}

}  // namespace weir::ledger
