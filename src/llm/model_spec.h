#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "llm/gguf/reader.h"

namespace weir::llm {

/// The numbers that shape a Llama model, read from a model file's metadata and checked against each other.
struct ModelSpec {
  std::string name;  ///< general.name, or the file's stem.
  int layers = 0;
  int width = 0;  ///< Embedding length.
  int heads = 0;
  int kv_heads = 0;  ///< Divides `heads`.
  int head_dim = 0;  ///< Even.
  int feed_forward = 0;
  int vocabulary = 0;
  int context_tokens = 0;  ///< The longest sequence the model was made for.
  float rope_base = 0;
  float norm_epsilon = 0;

  /// Bytes of keys and values for one token in f32, all layers.
  [[nodiscard]] std::int64_t kv_bytes_per_token() const noexcept {
    return std::int64_t{2} * layers * kv_heads * head_dim * 4;
  }
};

/// Reads the spec. kBadData names the key for another architecture than "llama", scaled rotary positions, or
/// numbers that do not fit together.
[[nodiscard]] Result<ModelSpec> model_spec_from(const GgufFile& file);

}  // namespace weir::llm
