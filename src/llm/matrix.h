#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <mlx/array.h>

#include "llm/gguf/ggml_type.h"

namespace weir::llm {

/// One weight matrix [outputs, inputs] as it stays in memory: packed (Q4_0, Q4_1, Q8_0 in MLX's affine form:
/// u32 codes, f32 scales and biases, groups of 32) or dense (F32, F16, BF16 as stored). Products are f32.
/// Belongs to the engine's thread, as every array.
class Matrix {
 public:
  /// Stacks matrices of one type and width row by row; `parts` keeps their row counts.
  struct Part {
    GgmlType type;
    int rows;
    std::vector<std::byte> stored;  ///< rows × inputs elements in the file's blocks.
  };
  Matrix(std::vector<Part> parts, int inputs);

  [[nodiscard]] int inputs() const noexcept { return inputs_; }
  [[nodiscard]] int outputs() const noexcept { return part_ends_.back(); }
  /// Bytes of the buffers that hold it.
  [[nodiscard]] std::int64_t held_bytes() const noexcept { return held_bytes_; }

  /// x [1, inputs] -> one [1, rows] per part; packed rows by row_product (kernels/primitives.h).
  /// x [n, inputs], n > 1 -> one [n, rows] per part: the matrix is dequantized into scratch, then sgemm.
  [[nodiscard]] std::vector<mlx::core::array> multiply(const mlx::core::array& x) const;

  /// The rows with these indices (int32 [n]) as f32 [n, inputs]: an embedding look-up.
  [[nodiscard]] mlx::core::array rows(const mlx::core::array& indices) const;

 private:
  /// The whole matrix as f32 [outputs, inputs], evaluated when used.
  [[nodiscard]] mlx::core::array dense() const;
  [[nodiscard]] std::vector<mlx::core::array> split(const mlx::core::array& product) const;

  int inputs_;
  int bits_ = 0;  ///< 0: dense.
  std::vector<int> part_ends_;
  mlx::core::array codes_;  ///< u32 [outputs, inputs * bits / 32], or the dense matrix.
  std::optional<mlx::core::array> scales_;
  std::optional<mlx::core::array> biases_;
  std::int64_t held_bytes_ = 0;
};

}  // namespace weir::llm
