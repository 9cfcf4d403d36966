#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llm/gguf/ggml_type.h"
#include "llm/gguf/gguf_builder.h"

namespace weir::llm {

/// For tests: a random Llama model of a few hundred kilobytes with a whole tokenizer. The defaults have odd
/// sizes on purpose: three query heads to one key head, no power of two where none is needed.
/// Rows of quantized types need multiples of 32, so `width` and `feed_forward` are such; `width` is
/// heads * head size, the head size is even, `heads` a multiple of `kv_heads`.
struct TinyLlama {
  std::uint32_t layers = 2;
  std::uint32_t width = 96;
  std::uint32_t heads = 3;
  std::uint32_t kv_heads = 1;
  std::uint32_t feed_forward = 224;
  std::uint32_t context = 512;
  float rope_base = 10000.0f;
  float epsilon = 1e-5f;
  bool tied = true;  ///< Without output.weight: the embedding serves as output.
  GgmlType embedding = GgmlType::kQ8_0;
  GgmlType attention = GgmlType::kQ4_1;
  GgmlType feed_forward_type = GgmlType::kQ4_1;
  GgmlType output = GgmlType::kQ8_0;
  std::uint32_t seed = 1;

  [[nodiscard]] std::uint32_t head_dim() const { return width / heads; }
};

/// The tokens of the tiny model: <|endoftext|> 0, <|im_start|> 1, <|im_end|> 2, the 256 byte tokens, then one
/// token for each merge.
[[nodiscard]] std::vector<std::string> tiny_tokens();
[[nodiscard]] std::vector<std::string> tiny_merges();

/// The model as a builder, so that a test can still bend it; .bytes() is the file.
[[nodiscard]] GgufBuilder tiny_llama(const TinyLlama& shape = {});

/// The same in a temporary file.
[[nodiscard]] TemporaryFile tiny_llama_file(const TinyLlama& shape = {});

}  // namespace weir::llm
