#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "llm/gguf/ggml_type.h"

namespace weir::llm {

// Stored blocks, 32 elements each, little-endian, no padding:
//
//   Q4_0  | d f16 | 16 bytes of codes |              value = d * (code - 8)
//   Q4_1  | d f16 | m f16 | 16 bytes of codes |      value = d * code + m
//   Q8_0  | d f16 | 32 signed bytes |                value = d * code
//
//   4-bit codes: byte i holds element i in its low and element i + 16 in its high nibble.
inline constexpr std::size_t kBlockElements = 32;
inline constexpr std::size_t kQ4_0Bytes = 18;
inline constexpr std::size_t kQ4_1Bytes = 20;
inline constexpr std::size_t kQ8_0Bytes = 34;

/// Exact, with subnormals and infinities; a NaN keeps its sign and payload.
[[nodiscard]] float f32_from_f16(std::uint16_t bits) noexcept;
[[nodiscard]] float f32_from_bf16(std::uint16_t bits) noexcept;

/// Dequantizes `out.size()` elements (a multiple of the type's block) of a supported type by the formulas
/// above in f32. The product of scale and code is exact; a zero of Q4_0 and Q8_0 is +0 whatever the sign of
/// d. `source` has exactly stored_bytes(type, out.size()) bytes. Other types are our bug.
void dequantize_rows(GgmlType type, std::span<const std::byte> source, std::span<float> out);

/// 4 for Q4_0 and Q4_1, 8 for Q8_0: the bits of the affine form; 0 for types that repack_rows() does not
/// take.
[[nodiscard]] int affine_bits(GgmlType type) noexcept;

/// Repacks quantized rows to the affine form of MLX with groups of 32: value = scale * code + bias, code
/// unsigned, element j of a word in bits [j*bits, (j+1)*bits). Rows have `columns` elements, a multiple
/// of 32.
///   source  rows * columns elements of Q4_0, Q4_1 or Q8_0
///   packed  rows * columns * bits / 32 words
///   scales, biases  rows * columns / 32 each
/// Q4_0: bias = -8 d. Q4_1: bias = m. Q8_0: code + 128, bias = -128 d. Scales and biases are exact in f32.
void repack_rows(GgmlType type, std::span<const std::byte> source, std::size_t rows, std::size_t columns,
                 std::span<std::uint32_t> packed, std::span<float> scales, std::span<float> biases);

/// Llama files store the rows of the query and key projections so that rotary pairs are neighbours: within a
/// head, row 2i is the first and row 2i + 1 the second half of pair i. Models that rotate halves want all
/// first parts, then all second parts. Element r of the result is the stored row that belongs at place r:
///   place h*d + i         <- stored h*d + 2i
///   place h*d + d/2 + i   <- stored h*d + 2i + 1
/// `head_dim` is even.
[[nodiscard]] std::vector<std::uint32_t> unpermuted_rows(std::uint32_t heads, std::uint32_t head_dim);

}  // namespace weir::llm
