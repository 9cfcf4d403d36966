#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llm/gguf/ggml_type.h"

namespace weir::llm {

/// For tests: to half precision, nearest, ties to even; too large becomes infinite.
[[nodiscard]] std::uint16_t f16_from_f32(float value) noexcept;
[[nodiscard]] std::uint16_t bf16_from_f32(float value) noexcept;

/// For tests: values as the stored bytes of a supported type, by plain rounding block for block. `values` are
/// finite, their count a multiple of the type's block.
[[nodiscard]] std::vector<std::byte> encode_blocks(GgmlType type, std::span<const float> values);

}  // namespace weir::llm
