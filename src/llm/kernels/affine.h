#pragma once

#include <cstddef>
#include <cstdint>

namespace weir::llm {

/// A matrix in MLX's affine form, groups of 32: value = scale * code + bias. Row-major, contiguous.
///   codes  [rows, columns * bits / 32] words, element j of a word in bits [j * bits, (j + 1) * bits)
///   scales, biases  [rows, columns / 32]
/// `bits` is 4 or 8, `columns` a multiple of 32. Borrowed pointers.
struct AffineView {
  const std::uint32_t* codes = nullptr;
  const float* scales = nullptr;
  const float* biases = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  int bits = 0;
};

/// out [rows, columns] f32. Picks AVX-512, AVX2 or portable code by the processor. Thread-safe.
void dequantize_affine(const AffineView& matrix, float* out);

/// out [rows] = matrix times x [columns]. Sums run in eight lanes, so results differ from a plain loop by
/// rounding, and between processors with and without fused multiply-add. `group_sums` is scratch of columns /
/// 32 floats.
void multiply_affine_row(const AffineView& matrix, const float* x, float* group_sums, float* out);

/// out[i] = gate[i] / (1 + exp(-gate[i])) * up[i] for `count` elements. The exponential is a polynomial after
/// Cody and Waite's reduction (Cephes expf), relative error below 2e-7; large negative gates give -0, no gate
/// overflows.
void swiglu(const float* gate, const float* up, std::size_t count, float* out);

}  // namespace weir::llm
