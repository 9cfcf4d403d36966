#include "llm/gguf/naive_llama.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "llm/gguf/blocks.h"

namespace weir::llm {
namespace {

Result<std::vector<float>> load_values(const GgufFile& file, const std::string& name) {
  const Result<const TensorInfo*> tensor = file.tensor(name);
  if (!tensor) return tl::unexpected(tensor.error());
  std::vector<std::byte> stored(static_cast<std::size_t>((*tensor)->size_bytes));
  if (Result<void> read = file.read_tensor(**tensor, stored); !read) return tl::unexpected(read.error());
  std::vector<float> values(static_cast<std::size_t>((*tensor)->elements()));
  dequantize_rows((*tensor)->type, stored, values);
  return values;
}

}  // namespace

NaiveLlama::Row NaiveLlama::Matrix::times(const Row& x) const {
  WEIR_CHECK_EQ(x.size(), columns);
  Row y(rows, 0.0);
  for (std::uint32_t r = 0; r < rows; ++r) {
    for (std::uint32_t c = 0; c < columns; ++c)
      y[r] += double{values[std::size_t{r} * columns + c]} * x[c];
  }
  return y;
}

Result<NaiveLlama> NaiveLlama::load(const GgufFile& file) {
  NaiveLlama model;
  try {
    const auto values = [&](const std::string& name) { return value_or_throw(load_values(file, name)); };
    const auto vector = [&](const std::string& name) {
      const std::vector<float> stored = values(name);
      return Row(stored.begin(), stored.end());
    };
    const auto matrix = [&](const std::string& name) {
      const TensorInfo* tensor = value_or_throw(file.tensor(name));
      return Matrix{static_cast<std::uint32_t>(tensor->rows()), static_cast<std::uint32_t>(tensor->columns()),
                    values(name)};
    };
    model.heads_ = value_or_throw(file.u32("llama.attention.head_count"));
    model.kv_heads_ = value_or_throw(file.u32("llama.attention.head_count_kv"));
    model.head_dim_ = value_or_throw(file.u32("llama.embedding_length")) / model.heads_;
    model.epsilon_ = value_or_throw(file.f32("llama.attention.layer_norm_rms_epsilon"));
    model.rope_base_ = value_or_throw(file.f32("llama.rope.freq_base"));
    model.embedding_ = matrix("token_embd.weight");
    model.output_norm_ = vector("output_norm.weight");
    if (file.find("output.weight") != nullptr) model.output_ = matrix("output.weight");
    const std::uint32_t layers = value_or_throw(file.u32("llama.block_count"));
    for (std::uint32_t i = 0; i < layers; ++i) {
      const std::string block = "blk." + std::to_string(i) + ".";
      model.layers_.push_back({vector(block + "attn_norm.weight"), vector(block + "ffn_norm.weight"),
                               matrix(block + "attn_q.weight"), matrix(block + "attn_k.weight"),
                               matrix(block + "attn_v.weight"), matrix(block + "attn_output.weight"),
                               matrix(block + "ffn_gate.weight"), matrix(block + "ffn_up.weight"),
                               matrix(block + "ffn_down.weight")});
    }
  } catch (const Failure& failure) {
    return tl::unexpected(failure.error());
  }
  return model;
}

NaiveLlama::Row NaiveLlama::normalized(const Row& x, const Row& weight) const {
  double squares = 0;
  for (const double value : x)
    squares += value * value;
  const double scale = 1 / std::sqrt(squares / static_cast<double>(x.size()) + epsilon_);
  Row y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] = x[i] * scale * weight[i];
  return y;
}

void NaiveLlama::rotate(Row& heads, std::size_t position) const {
  for (std::size_t start = 0; start < heads.size(); start += head_dim_) {
    for (std::uint32_t i = 0; i < head_dim_ / 2; ++i) {
      const double angle = static_cast<double>(position) * std::pow(rope_base_, -2.0 * i / head_dim_);
      double& a = heads[start + 2 * i];
      double& b = heads[start + 2 * i + 1];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = a * std::sin(angle) + b * std::cos(angle);
      a = turned;
    }
  }
}

/// One position's attention over the keys so far, which end with its own.
NaiveLlama::Row NaiveLlama::attend(const Row& q, const std::vector<Row>& keys,
                                   const std::vector<Row>& values) const {
  Row mixed(q.size(), 0.0);
  for (std::uint32_t head = 0; head < heads_; ++head) {
    const std::size_t from = std::size_t{head} * head_dim_;
    const std::size_t shared = std::size_t{head / (heads_ / kv_heads_)} * head_dim_;
    Row weights(keys.size(), 0.0);
    for (std::size_t t = 0; t < keys.size(); ++t) {
      for (std::uint32_t i = 0; i < head_dim_; ++i)
        weights[t] += q[from + i] * keys[t][shared + i];
      weights[t] /= std::sqrt(static_cast<double>(head_dim_));
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0;
    for (double& weight : weights)
      sum += weight = std::exp(weight - largest);
    for (std::size_t t = 0; t < values.size(); ++t) {
      for (std::uint32_t i = 0; i < head_dim_; ++i)
        mixed[from + i] += weights[t] / sum * values[t][shared + i];
    }
  }
  return mixed;
}

void NaiveLlama::apply_layer(const Layer& layer, std::vector<Row>& stream) const {
  std::vector<Row> keys, values;
  for (std::size_t position = 0; position < stream.size(); ++position) {
    Row& x = stream[position];
    const Row before = normalized(x, layer.attention_norm);
    Row q = layer.q.times(before);
    keys.push_back(layer.k.times(before));
    values.push_back(layer.v.times(before));
    rotate(q, position);
    rotate(keys.back(), position);
    const Row attended = layer.output.times(attend(q, keys, values));
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += attended[i];

    const Row middle = normalized(x, layer.feed_forward_norm);
    Row gate = layer.gate.times(middle);
    const Row up = layer.up.times(middle);
    for (std::size_t i = 0; i < gate.size(); ++i)
      gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
    const Row fed = layer.down.times(gate);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] += fed[i];
  }
}

NaiveLlama::Output NaiveLlama::forward(std::span<const std::int32_t> tokens) const {
  std::vector<Row> stream;
  for (const std::int32_t token : tokens) {
    WEIR_CHECK(token >= 0 && static_cast<std::uint32_t>(token) < vocabulary());
    const auto row = embedding_.values.begin() + std::ptrdiff_t{token} * embedding_.columns;
    stream.emplace_back(row, row + embedding_.columns);
  }
  Output out;
  for (const Layer& layer : layers_) {
    apply_layer(layer, stream);
    out.hidden.push_back(stream);
  }
  const Matrix& output = output_ ? *output_ : embedding_;
  for (const Row& x : stream)
    out.logits.push_back(output.times(normalized(x, output_norm_)));
  return out;
}

std::vector<std::int32_t> NaiveLlama::greedy(std::vector<std::int32_t> prompt, int count) const {
  std::vector<std::int32_t> chosen;
  for (int i = 0; i < count; ++i) {
    const Row logits = forward(prompt).logits.back();
    const auto best = std::max_element(logits.begin(), logits.end());
    chosen.push_back(static_cast<std::int32_t>(best - logits.begin()));
    prompt.push_back(chosen.back());
  }
  return chosen;
}

}  // namespace weir::llm
