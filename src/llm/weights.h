#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <mlx/array.h>

#include "base/error.h"
#include "llm/gguf/reader.h"
#include "llm/matrix.h"
#include "llm/model_spec.h"

namespace weir::llm {

/// One transformer block. Products that read the same input are stacked, so that a step has few, large nodes.
struct LayerWeights {
  mlx::core::array attention_norm;      ///< [width]
  std::vector<Matrix> query_key_value;  ///< One matrix of three parts, or three where their types differ.
  Matrix attention_output;              ///< [width, heads * head_dim]
  mlx::core::array feed_forward_norm;   ///< [width]
  std::vector<Matrix> gate_up;          ///< One matrix of two parts, or two.
  Matrix down;                          ///< [width, feed_forward]
};

/// All weights of a Llama model, resident and packed. Query and key rows are reordered so that rotary pairs
/// are (i, i + head_dim / 2).
struct Weights {
  Matrix embedding;  ///< [vocabulary, width]
  std::vector<LayerWeights> layers;
  mlx::core::array output_norm;  ///< [width]
  std::optional<Matrix> output;  ///< Absent: the embedding is used (tied).
  std::int64_t held_bytes = 0;
};

/// Reads every weight, one tensor at a time: the peak is what stays plus the largest tensor. A tensor that is
/// missing or has other dimensions than the spec says is kBadData with its name; so is a tensor that the
/// model would have to ignore.
[[nodiscard]] Result<Weights> load_weights(const GgufFile& file, const ModelSpec& spec);

}  // namespace weir::llm
