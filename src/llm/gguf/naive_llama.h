#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "llm/gguf/reader.h"

namespace weir::llm {

/// For tests: a Llama model computed in double precision by the plainest loops, straight from the file's
/// dequantized weights, sharing nothing with the real model but the block formulas. The file's query and key
/// rows stay as they lie, so rotary embedding turns neighbours (2i, 2i + 1). Slow: a tiny model only, or a
/// few tokens of a small one. Memory: all weights as f32. Thread-safe after load().
class NaiveLlama {
 public:
  using Row = std::vector<double>;

  struct Output {
    std::vector<Row> logits;               ///< [position][token]
    std::vector<std::vector<Row>> hidden;  ///< [layer][position][width]: the residual stream after each layer
  };

  [[nodiscard]] static Result<NaiveLlama> load(const GgufFile& file);

  /// The whole sequence from position 0; `tokens` are below vocabulary().
  [[nodiscard]] Output forward(std::span<const std::int32_t> tokens) const;

  /// The `count` tokens with the largest logits (the lowest id of equals), one after the other.
  [[nodiscard]] std::vector<std::int32_t> greedy(std::vector<std::int32_t> prompt, int count) const;

  [[nodiscard]] std::uint32_t vocabulary() const noexcept { return embedding_.rows; }

 private:
  struct Matrix {
    std::uint32_t rows = 0, columns = 0;
    std::vector<float> values;  ///< row by row
    [[nodiscard]] Row times(const Row& x) const;
  };
  struct Layer {
    Row attention_norm, feed_forward_norm;
    Matrix q, k, v, output, gate, up, down;
  };

  [[nodiscard]] Row normalized(const Row& x, const Row& weight) const;
  void rotate(Row& heads, std::size_t position) const;
  [[nodiscard]] Row attend(const Row& q, const std::vector<Row>& keys, const std::vector<Row>& values) const;
  void apply_layer(const Layer& layer, std::vector<Row>& stream) const;

  std::uint32_t heads_ = 0, kv_heads_ = 0, head_dim_ = 0;
  double epsilon_ = 0, rope_base_ = 0;
  Matrix embedding_;
  std::vector<Layer> layers_;
  Row output_norm_;
  std::optional<Matrix> output_;  ///< Without it the embedding serves as output.
};

}  // namespace weir::llm
