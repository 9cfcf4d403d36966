#pragma once

#include <cstdint>
#include <string_view>

namespace weir::llm {

/// How the elements of a tensor are stored, numbered as in the file. Named here are the types that weir
/// computes with; find_type() knows the names and sizes of the others, so that they can be listed and
/// refused.
enum class GgmlType : std::uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ8_0 = 8,
  kBF16 = 30,
};

/// A row is a run of blocks; each holds `block_elements` elements in `block_bytes` bytes.
struct GgmlTypeInfo {
  GgmlType type;
  std::string_view name;  ///< As the format writes it, e.g. "Q4_1". Static storage.
  std::uint32_t block_elements;
  std::uint32_t block_bytes;
  bool supported;  ///< weir can dequantize it.
};

/// The type with this number in a file, or nullptr when the number means nothing (or is retired).
[[nodiscard]] const GgmlTypeInfo* find_type(std::uint32_t number) noexcept;

/// The facts of a type that find_type() knows; any other value is our bug.
[[nodiscard]] const GgmlTypeInfo& type_info(GgmlType type);

/// The bytes of `elements` elements (a multiple of the type's block) of a supported or listed type.
[[nodiscard]] std::uint64_t stored_bytes(GgmlType type, std::uint64_t elements);

}  // namespace weir::llm
