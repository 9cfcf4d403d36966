#include "llm/model_spec.h"

#include <array>
#include <cmath>
#include <optional>

namespace weir::llm {

namespace {

constexpr std::uint32_t kLargestNumber = 1u << 26;  // far above any real model; keeps int products in range

/// Collects the first error, so that a list of fields reads as a list.
class Fields {
 public:
  explicit Fields(const GgufFile& file) : file_(file) {}

  int count(std::string_view key) {
    const auto value = file_.u32(key);
    if (!value) return keep(value.error());
    if (*value == 0 || *value > kLargestNumber)
      return keep(bad(key, "is out of range: " + std::to_string(*value)));
    return static_cast<int>(*value);
  }
  int count_or(std::string_view key, int absent) { return file_.has(key) ? count(key) : absent; }
  float positive(std::string_view key, float absent) {
    const auto value = file_.f32_or(key, absent);
    if (!value) return static_cast<float>(keep(value.error()));
    if (!std::isfinite(*value) || *value <= 0) keep(bad(key, "is not a positive number"));
    return *value;
  }
  void require(bool holds, std::string_view key, const std::string& what) {
    if (!holds) keep(bad(key, what));
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  Error bad(std::string_view key, const std::string& what) const {
    return {ErrorKind::kBadData, file_.path().string(), std::string(key) + " " + what};
  }
  int keep(Error error) {
    if (!error_) error_ = std::move(error);
    return 0;
  }

  const GgufFile& file_;
  std::optional<Error> error_;
};

Result<void> require_llama(const GgufFile& file) {
  const auto architecture = file.string("general.architecture");
  if (!architecture) return tl::unexpected(architecture.error());
  if (*architecture != "llama")
    return fail(
        ErrorKind::kBadData, file.path().string(),
        "architecture not known: \"" + std::string(architecture->substr(0, 40)) + "\"; weir runs llama");
  const auto scaling = file.string_or("llama.rope.scaling.type", "none");
  if (!scaling) return tl::unexpected(scaling.error());
  if (*scaling != "none" || file.find("rope_freqs.weight") != nullptr)
    return fail(ErrorKind::kBadData, file.path().string(), "scaled rotary positions are not supported");
  for (const char* key : {"llama.expert_count", "llama.attention.sliding_window"}) {
    const auto value = file.u32_or(key, 0);
    if (!value) return tl::unexpected(value.error());
    if (*value != 0)
      return fail(ErrorKind::kBadData, file.path().string(), std::string(key) + " is not supported");
  }
  return {};
}

}  // namespace

Result<ModelSpec> model_spec_from(const GgufFile& file) {
  if (auto llama = require_llama(file); !llama) return tl::unexpected(llama.error());
  Fields fields(file);
  ModelSpec spec;
  spec.layers = fields.count("llama.block_count");
  spec.width = fields.count("llama.embedding_length");
  spec.heads = fields.count("llama.attention.head_count");
  spec.kv_heads = fields.count_or("llama.attention.head_count_kv", spec.heads);
  spec.feed_forward = fields.count("llama.feed_forward_length");
  spec.context_tokens = fields.count("llama.context_length");
  spec.rope_base = fields.positive("llama.rope.freq_base", 10000.0F);
  spec.norm_epsilon = fields.positive("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  if (fields.error()) return tl::unexpected(*fields.error());
  const int whole = spec.width / spec.heads;
  spec.head_dim = fields.count_or("llama.attention.key_length", whole);
  const int rotated = fields.count_or("llama.rope.dimension_count", spec.head_dim);
  const int value_length = fields.count_or("llama.attention.value_length", spec.head_dim);
  fields.require(spec.heads % spec.kv_heads == 0, "llama.attention.head_count_kv",
                 "does not divide the number of heads");
  fields.require(spec.head_dim > 0 && spec.head_dim % 2 == 0, "llama.attention.key_length", "is not even");
  fields.require(value_length == spec.head_dim, "llama.attention.value_length",
                 "differs from the key length");
  fields.require(rotated == spec.head_dim, "llama.rope.dimension_count", "differs from the head's length");
  if (fields.error()) return tl::unexpected(*fields.error());
  const auto embedding = file.tensor("token_embd.weight");
  if (!embedding) return tl::unexpected(embedding.error());
  fields.require((*embedding)->rows() <= kLargestNumber, "token_embd.weight", "has too many rows");
  spec.vocabulary = static_cast<int>((*embedding)->rows());
  const auto name = file.string_or("general.name", "");
  spec.name = name && !name->empty() ? std::string(*name) : file.path().stem().string();
  if (fields.error()) return tl::unexpected(*fields.error());
  return spec;
}

}  // namespace weir::llm
