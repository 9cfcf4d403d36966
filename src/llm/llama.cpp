#include "llm/llama.h"

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <mlx/fast.h>
#include <mlx/ops.h>
#include <mlx/transforms.h>

#include "base/check.h"
#include "llm/kernels/primitives.h"

namespace weir::llm {

namespace mx = mlx::core;

namespace {

std::vector<mx::array> multiply(const std::vector<Matrix>& matrices, const mx::array& x) {
  std::vector<mx::array> products;
  for (const Matrix& matrix : matrices)
    for (mx::array& product : matrix.multiply(x))
      products.push_back(std::move(product));
  return products;
}

}  // namespace

/// What every layer of one step shares: the angles of its positions and the causal mask.
struct Llama::Positions {
  mx::array cosines;  ///< [n, head_dim / 2]
  mx::array sines;
  std::optional<mx::array> mask;  ///< [n, all tokens]: 0 or -inf; absent for one token.

  Positions(const ModelSpec& spec, int first, int count)
      : cosines(angles(spec, first, count, false)), sines(angles(spec, first, count, true)) {
    if (count > 1) mask = causal(first, count);
  }

  /// Angles in double: at position 8,000 an f32 product is off by 5e-4 radians.
  static mx::array angles(const ModelSpec& spec, int first, int count, bool sine) {
    const int half = spec.head_dim / 2;
    std::vector<float> values;
    values.reserve(static_cast<std::size_t>(count) * static_cast<std::size_t>(half));
    for (int position = first; position < first + count; ++position) {
      for (int i = 0; i < half; ++i) {
        const double angle =
            position * std::pow(static_cast<double>(spec.rope_base), -2.0 * i / spec.head_dim);
        values.push_back(static_cast<float>(sine ? std::sin(angle) : std::cos(angle)));
      }
    }
    return mx::array(values.begin(), {count, half}, mx::float32);
  }

  static mx::array causal(int first, int count) {
    const mx::array rows = mx::expand_dims(mx::arange(first, first + count, mx::int32), 1);
    const mx::array columns = mx::expand_dims(mx::arange(0, first + count, mx::int32), 0);
    return mx::where(mx::less_equal(columns, rows), mx::array(0.0F),
                     mx::array(-std::numeric_limits<float>::infinity()));
  }
};

Llama::Llama(ModelSpec spec, Weights weights) : spec_(std::move(spec)), weights_(std::move(weights)) {}

/// x [heads, n, head_dim], pairs (i, i + head_dim / 2).
mx::array Llama::rotate(const mx::array& x, const Positions& positions) const {
  const int half = spec_.head_dim / 2;
  const mx::array first = mx::slice(x, {0, 0, 0}, {x.shape(0), x.shape(1), half});
  const mx::array second = mx::slice(x, {0, 0, half}, x.shape());
  return mx::concatenate(
      {mx::subtract(mx::multiply(first, positions.cosines), mx::multiply(second, positions.sines)),
       mx::add(mx::multiply(second, positions.cosines), mx::multiply(first, positions.sines))},
      2);
}

mx::array Llama::attention(const LayerWeights& layer, int index, const mx::array& x,
                           const Positions& positions, KvCache& cache) const {
  const int n = x.shape(0);
  const int group = spec_.heads / spec_.kv_heads;
  const auto by_head = [&](const mx::array& product, int heads) {
    return mx::transpose(mx::reshape(product, {n, heads, spec_.head_dim}), {1, 0, 2});
  };
  const auto products = multiply(layer.query_key_value, x);
  const float scale = 1.0F / std::sqrt(static_cast<float>(spec_.head_dim));
  const mx::array queries =
      mx::multiply(rotate(by_head(products.at(0), spec_.heads), positions), mx::array(scale));
  const auto window = cache.append(index, rotate(by_head(products.at(1), spec_.kv_heads), positions),
                                   by_head(products.at(2), spec_.kv_heads));
  const int total = window.keys.shape(1);
  // The query heads that share a key head stand one below the other: one product per key head, no copies.
  const mx::array grouped = mx::reshape(queries, {spec_.kv_heads, group * n, spec_.head_dim});
  mx::array scores = mx::matmul(grouped, mx::transpose(window.keys, {0, 2, 1}));
  if (positions.mask) {
    scores = mx::add(mx::reshape(scores, {spec_.kv_heads, group, n, total}), *positions.mask);
    scores = mx::reshape(scores, {spec_.kv_heads, group * n, total});
  }
  const mx::array mixed = mx::matmul(mx::softmax(scores, -1, true), window.values);
  const mx::array by_token = mx::transpose(mx::reshape(mixed, {spec_.heads, n, spec_.head_dim}), {1, 0, 2});
  return layer.attention_output.multiply(mx::reshape(by_token, {n, spec_.heads * spec_.head_dim})).front();
}

mx::array Llama::feed_forward(const LayerWeights& layer, const mx::array& x) const {
  const auto products = multiply(layer.gate_up, x);
  return layer.down.multiply(swiglu(products.at(0), products.at(1))).front();
}

mx::array Llama::step(std::span<const std::int32_t> tokens, KvCache& cache, LogitsOf wanted) const {
  const int n = static_cast<int>(tokens.size());
  WEIR_CHECK_LT(0, n);
  for (const std::int32_t token : tokens)
    WEIR_CHECK(token >= 0 && token < spec_.vocabulary);
  const Positions positions(spec_, cache.tokens(), n);
  mx::array x = weights_.embedding.rows(mx::array(tokens.begin(), {n}, mx::int32));
  for (int i = 0; i < spec_.layers; ++i) {
    const LayerWeights& layer = weights_.layers[static_cast<std::size_t>(i)];
    x = mx::add(x, attention(layer, i, mx::fast::rms_norm(x, layer.attention_norm, spec_.norm_epsilon),
                             positions, cache));
    x = mx::add(x, feed_forward(layer, mx::fast::rms_norm(x, layer.feed_forward_norm, spec_.norm_epsilon)));
  }
  cache.advance(n);
  std::vector<mx::array> results = cache.arrays();
  if (wanted == LogitsOf::kNone) {
    mx::eval(results);
    return mx::zeros({0, spec_.vocabulary});
  }
  if (wanted == LogitsOf::kLastToken) x = mx::slice(x, {n - 1, 0}, {n, spec_.width});
  x = mx::fast::rms_norm(x, weights_.output_norm, spec_.norm_epsilon);
  mx::array logits = (weights_.output ? *weights_.output : weights_.embedding).multiply(x).front();
  results.push_back(logits);
  x = logits;  // nothing else of the graph stays referenced
  mx::eval(std::move(results));
  return logits;
}

}  // namespace weir::llm
