#pragma once

#include <cstdint>
#include <span>

#include <mlx/array.h>

#include "llm/kv_cache.h"
#include "llm/model_spec.h"
#include "llm/weights.h"

namespace weir::llm {

enum class LogitsOf { kNone, kLastToken, kAllTokens };

/// The forward pass of a Llama model (RMS norm, rotary positions, grouped-query attention, SwiGLU) as an MLX
/// graph in f32; see Touvron et al., "LLaMA" (2023). Stateless but for the weights it reads.
class Llama {
 public:
  Llama(ModelSpec spec, Weights weights);

  [[nodiscard]] const ModelSpec& spec() const noexcept { return spec_; }
  [[nodiscard]] std::int64_t weight_bytes() const noexcept { return weights_.held_bytes; }

  /// Runs `tokens` behind what `cache` holds, evaluates, and moves the cache on. Returns logits [rows,
  /// vocabulary]: one row, all rows, or none ([0, vocabulary]). Ids are inside the vocabulary and fit the
  /// cache, or it is our bug.
  [[nodiscard]] mlx::core::array step(std::span<const std::int32_t> tokens, KvCache& cache,
                                      LogitsOf wanted) const;

 private:
  struct Positions;
  [[nodiscard]] mlx::core::array attention(const LayerWeights& layer, int index, const mlx::core::array& x,
                                           const Positions& positions, KvCache& cache) const;
  [[nodiscard]] mlx::core::array feed_forward(const LayerWeights& layer, const mlx::core::array& x) const;
  [[nodiscard]] mlx::core::array rotate(const mlx::core::array& x, const Positions& positions) const;

  ModelSpec spec_;
  Weights weights_;
};

}  // namespace weir::llm
