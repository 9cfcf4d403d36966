#include "llm/gguf/tiny_llama.h"

#include <cmath>

#include "base/check.h"

namespace weir::llm {
namespace {

constexpr char kChatTemplate[] =
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + "
    "'<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif "
    "%}";
constexpr std::int32_t kNormal = 1;
constexpr std::int32_t kControl = 3;
constexpr std::uint32_t kSpecials = 3;

/// Normally distributed numbers that are the same everywhere: a linear congruential generator with the sum of
/// twelve uniform draws.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed * 2654435761u + 12345u) {}

  std::vector<float> normal(std::size_t count, float mean, float deviation) {
    std::vector<float> values(count);
    for (float& value : values) {
      float sum = -6;
      for (int i = 0; i < 12; ++i)
        sum += uniform();
      value = mean + deviation * sum;
    }
    return values;
  }

 private:
  float uniform() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<float>(state_ >> 40) * 0x1p-24f;
  }

  std::uint64_t state_;
};

std::string utf8(std::uint32_t code_point) {
  if (code_point < 0x80) return {static_cast<char>(code_point)};
  return {static_cast<char>(0xc0 | code_point >> 6), static_cast<char>(0x80 | (code_point & 0x3f))};
}

/// Byte-level vocabularies write printable Latin-1 bytes as themselves and the other 68, in order, as the
/// code points from 256 on: a space is U+0120.
std::vector<std::string> byte_tokens() {
  std::vector<std::string> tokens;
  std::uint32_t next = 256;
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte != 173);
    tokens.push_back(utf8(printable ? byte : next++));
  }
  return tokens;
}

void add_tokenizer(GgufBuilder& builder) {
  const std::vector<std::string> tokens = tiny_tokens();
  std::vector<std::int32_t> types(tokens.size(), kNormal);
  for (std::uint32_t i = 0; i < kSpecials; ++i)
    types[i] = kControl;
  builder.add_value("tokenizer.ggml.model", std::string("gpt2"))
      .add_value("tokenizer.ggml.pre", std::string("smollm"))
      .add_value("tokenizer.ggml.tokens", tokens)
      .add_value("tokenizer.ggml.token_type", types)
      .add_value("tokenizer.ggml.merges", tiny_merges())
      .add_value("tokenizer.ggml.bos_token_id", std::uint32_t{1})
      .add_value("tokenizer.ggml.eos_token_id", std::uint32_t{2})
      .add_value("tokenizer.ggml.unknown_token_id", std::uint32_t{0})
      .add_value("tokenizer.ggml.padding_token_id", std::uint32_t{2})
      .add_value("tokenizer.ggml.add_space_prefix", false)
      .add_value("tokenizer.ggml.add_bos_token", false)
      .add_value("tokenizer.chat_template", std::string(kChatTemplate));
}

void add_shape(GgufBuilder& builder, const TinyLlama& shape, std::uint32_t vocabulary) {
  builder.add_value("general.architecture", std::string("llama"))
      .add_value("general.type", std::string("model"))
      .add_value("general.name", std::string("Tiny Random Llama"))
      .add_value("general.quantization_version", std::uint32_t{2})
      .add_value("llama.block_count", shape.layers)
      .add_value("llama.context_length", shape.context)
      .add_value("llama.embedding_length", shape.width)
      .add_value("llama.feed_forward_length", shape.feed_forward)
      .add_value("llama.attention.head_count", shape.heads)
      .add_value("llama.attention.head_count_kv", shape.kv_heads)
      .add_value("llama.attention.layer_norm_rms_epsilon", shape.epsilon)
      .add_value("llama.rope.freq_base", shape.rope_base)
      .add_value("llama.rope.dimension_count", shape.head_dim())
      .add_value("llama.vocab_size", vocabulary);
}

void add_norm(GgufBuilder& builder, Draws& draws, const std::string& name, std::uint32_t width) {
  builder.add_tensor(name, {width}, GgmlType::kF32, draws.normal(width, 1.0f, 0.1f));
}

/// Entries as large as keeps the activations of the same order from layer to layer.
void add_matrix(GgufBuilder& builder, Draws& draws, const std::string& name, std::uint32_t columns,
                std::uint32_t rows, GgmlType type) {
  const float deviation = 1.0f / std::sqrt(static_cast<float>(columns));
  builder.add_tensor(name, {columns, rows}, type, draws.normal(std::size_t{columns} * rows, 0.0f, deviation));
}

void add_layer(GgufBuilder& builder, Draws& draws, const TinyLlama& shape, std::uint32_t layer) {
  const std::string block = "blk." + std::to_string(layer) + ".";
  const std::uint32_t kv_width = shape.kv_heads * shape.head_dim();
  const std::uint32_t ffn = shape.feed_forward;
  add_norm(builder, draws, block + "attn_norm.weight", shape.width);
  add_matrix(builder, draws, block + "ffn_down.weight", ffn, shape.width, shape.feed_forward_type);
  add_matrix(builder, draws, block + "ffn_gate.weight", shape.width, ffn, shape.feed_forward_type);
  add_matrix(builder, draws, block + "ffn_up.weight", shape.width, ffn, shape.feed_forward_type);
  add_norm(builder, draws, block + "ffn_norm.weight", shape.width);
  add_matrix(builder, draws, block + "attn_k.weight", shape.width, kv_width, shape.attention);
  add_matrix(builder, draws, block + "attn_output.weight", shape.width, shape.width, shape.attention);
  add_matrix(builder, draws, block + "attn_q.weight", shape.width, shape.width, shape.attention);
  add_matrix(builder, draws, block + "attn_v.weight", shape.width, kv_width, shape.attention);
}

}  // namespace

std::vector<std::string> tiny_merges() {
  const std::string space = utf8(0x120);
  return {space + " t", "h e",         "i n",          "e r",          "o n",          "a t",
          space + " a", "o r",         "e n",          "r e",          space + "t he", "in g",
          "o u",        "l l",         space + " w",   space + " s",   "i s",          "a n",
          "e s",        "o w",         "w or",         space + "w or", "l d",          "ll o",
          "he llo",     space + "a n", space + "an d", "at i",         "ati on"};
}

std::vector<std::string> tiny_tokens() {
  std::vector<std::string> tokens = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  for (std::string& token : byte_tokens())
    tokens.push_back(std::move(token));
  for (const std::string& merge : tiny_merges()) {
    const std::size_t gap = merge.find(' ');
    tokens.push_back(merge.substr(0, gap) + merge.substr(gap + 1));
  }
  return tokens;
}

GgufBuilder tiny_llama(const TinyLlama& shape) {
  WEIR_CHECK_EQ(shape.width % shape.heads, 0u);
  WEIR_CHECK_EQ(shape.heads % shape.kv_heads, 0u);
  const auto vocabulary = static_cast<std::uint32_t>(tiny_tokens().size());
  Draws draws(shape.seed);
  GgufBuilder builder;
  add_shape(builder, shape, vocabulary);
  add_tokenizer(builder);
  add_matrix(builder, draws, "token_embd.weight", shape.width, vocabulary, shape.embedding);
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer)
    add_layer(builder, draws, shape, layer);
  add_norm(builder, draws, "output_norm.weight", shape.width);
  if (!shape.tied) add_matrix(builder, draws, "output.weight", shape.width, vocabulary, shape.output);
  return builder;
}

TemporaryFile tiny_llama_file(const TinyLlama& shape) {
  return TemporaryFile(tiny_llama(shape).bytes());
}

}  // namespace weir::llm
