#pragma once

#include <cstdint>
#include <vector>

#include <mlx/array.h>

#include "llm/model_spec.h"

namespace weir::llm {

/// Keys and values of one sequence: per layer two f32 arrays [kv_heads, capacity, head_dim], allocated once
/// and written in place. Belongs to the engine's thread.
class KvCache {
 public:
  /// Room for `capacity_tokens`, rounded up to a multiple of 256; the memory is touched at once.
  KvCache(const ModelSpec& spec, int capacity_tokens);

  [[nodiscard]] int capacity_tokens() const noexcept { return capacity_; }
  [[nodiscard]] int tokens() const noexcept { return tokens_; }
  /// Of the buffers, which may be larger than the arrays: MLX reuses a freed buffer of up to twice the size.
  [[nodiscard]] std::int64_t held_bytes() const noexcept { return held_bytes_; }

  /// Appends keys and values [kv_heads, n, head_dim] behind tokens() of a layer and returns all of them, each
  /// [kv_heads, tokens() + n, head_dim]. The count moves with advance(), once a step, after all layers.
  struct Window {
    mlx::core::array keys;
    mlx::core::array values;
  };
  [[nodiscard]] Window append(int layer, const mlx::core::array& keys, const mlx::core::array& values);
  void advance(int tokens);
  /// Forgets all tokens, keeps the memory.
  void clear() noexcept { tokens_ = 0; }
  /// The arrays, to be evaluated with a step's result.
  [[nodiscard]] std::vector<mlx::core::array> arrays() const;

  static constexpr int kStepTokens = 256;
  [[nodiscard]] static int rounded_capacity(int tokens) noexcept {
    return (tokens + kStepTokens - 1) / kStepTokens * kStepTokens;
  }

 private:
  int capacity_;
  int tokens_ = 0;
  std::int64_t held_bytes_ = 0;
  std::vector<mlx::core::array> keys_;
  std::vector<mlx::core::array> values_;
};

}  // namespace weir::llm
