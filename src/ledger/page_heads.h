#pragma once

#include <cstring>
#include <initializer_list>
#include <optional>

#include "ledger/block_heads.h"

namespace weir::ledger {

/// For tests: the first words of a page.
inline PageHead head_of_words(std::initializer_list<std::uint64_t> words) {
  PageHead head{};
  std::memcpy(head.data(), words.begin(), words.size() * sizeof(std::uint64_t));
  return head;
}

/// As malloc writes it for a block that it mapped.
inline PageHead mapped_block_head(std::uint64_t bytes) {
  return head_of_words({0, bytes | 2});
}

/// The fields of a pool of Python's objects: of 64 bytes each, three of them given.
struct PythonPoolFields {
  std::uint32_t in_use = 2;
  std::uint32_t arena = 4;
  std::uint32_t size_class = 3;
  std::uint32_t next_offset = 48 + 64 * 3;
  std::optional<std::uint64_t> free_block = std::nullopt;  ///< By default the second one.
  std::uint32_t pool_bytes = 16u << 10;
  std::optional<std::uint32_t> last_offset = std::nullopt;
};

inline PageHead python_pool_head(std::uint64_t address, const PythonPoolFields& fields = {}) {
  const std::uint32_t last = fields.last_offset.value_or(fields.pool_bytes - (fields.size_class + 1) * 16);
  const auto pair = [](std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; };
  return head_of_words({fields.in_use, fields.free_block.value_or(address + 48 + 64), address, address,
                        pair(fields.arena, fields.size_class), pair(fields.next_offset, last)});
}

}  // namespace weir::ledger
