#pragma once

#include <mlx/array.h>

namespace weir::llm {

/// The kernels of affine.h as nodes of an MLX graph: each allocates its output through MLX's allocator and
/// runs on the stream's thread. They exist because MLX's own versions on x86 are a chain of scalar loops with
/// a temporary of the matrix's size at every link.

/// f32 [rows, columns] from codes [rows, columns * bits / 32], scales and biases [rows, columns / 32].
[[nodiscard]] mlx::core::array dequantized(const mlx::core::array& codes, const mlx::core::array& scales,
                                           const mlx::core::array& biases, int bits);

/// f32 [1, rows] = x [1, columns] times the transposed matrix.
[[nodiscard]] mlx::core::array row_product(const mlx::core::array& x, const mlx::core::array& codes,
                                           const mlx::core::array& scales, const mlx::core::array& biases,
                                           int bits);

/// silu(gate) * up, elementwise, f32; both have one shape.
[[nodiscard]] mlx::core::array swiglu(const mlx::core::array& gate, const mlx::core::array& up);

}  // namespace weir::llm
