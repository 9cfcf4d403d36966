#include "llm/weights.h"

#include <cstring>
#include <set>
#include <string>

#include "llm/gguf/blocks.h"

namespace weir::llm {

namespace mx = mlx::core;

namespace {

std::string dims_text(const TensorInfo& tensor) {
  std::string text;
  for (const auto dim : tensor.dims)
    text += (text.empty() ? "" : " x ") + std::to_string(dim);
  return text;
}

/// Reads tensors by name, checks their shapes and remembers which were read. Throws Failure: a loader has a
/// dozen reads a layer, and load_weights turns it back into a Result at the edge.
class Loader {
 public:
  Loader(const GgufFile& file, const ModelSpec& spec) : file_(file), spec_(spec) {}

  mx::array vector(const std::string& name, int size) {
    const TensorInfo& tensor = find(name, 1, size);
    std::vector<std::byte> stored(tensor.size_bytes);
    value_or_throw(file_.read_tensor(tensor, stored));
    std::vector<float> values(static_cast<std::size_t>(size));
    dequantize_rows(tensor.type, stored, values);
    return mx::array(values.begin(), {size}, mx::float32);
  }

  Matrix::Part part(const std::string& name, int rows, int columns) {
    const TensorInfo& tensor = find(name, rows, columns);
    Matrix::Part part{tensor.type, rows, std::vector<std::byte>(tensor.size_bytes)};
    value_or_throw(file_.read_tensor(tensor, part.stored));
    return part;
  }

  Matrix matrix(const std::string& name, int rows, int columns) {
    std::vector<Matrix::Part> parts;
    parts.push_back(part(name, rows, columns));
    return Matrix(std::move(parts), columns);
  }

  /// Like part(), with each head's rows in half-split order.
  Matrix::Part rotary_part(const std::string& name, int heads, int columns) {
    Matrix::Part stored = part(name, heads * spec_.head_dim, columns);
    const auto order =
        unpermuted_rows(static_cast<std::uint32_t>(heads), static_cast<std::uint32_t>(spec_.head_dim));
    const std::size_t row_bytes = stored.stored.size() / order.size();
    std::vector<std::byte> reordered(stored.stored.size());
    for (std::size_t row = 0; row < order.size(); ++row)
      std::memcpy(reordered.data() + row * row_bytes, stored.stored.data() + order[row] * row_bytes,
                  row_bytes);
    stored.stored = std::move(reordered);
    return stored;
  }

  void require_all_read() const {
    for (const TensorInfo& tensor : file_.tensors()) {
      if (!read_.contains(tensor.name))
        throw Failure({ErrorKind::kBadData, file_.path().string(),
                       "tensor not known to a llama model: " + tensor.name.substr(0, 80)});
    }
  }

 private:
  const TensorInfo& find(const std::string& name, int rows, int columns) {
    const TensorInfo& tensor = *value_or_throw(file_.tensor(name));
    const bool fits = tensor.columns() == static_cast<std::uint64_t>(columns) &&
                      tensor.rows() == static_cast<std::uint64_t>(rows);
    if (!fits)
      throw Failure({ErrorKind::kBadData, file_.path().string(),
                     "tensor " + name + " is " + dims_text(tensor) + ", the model needs " +
                         std::to_string(columns) + " x " + std::to_string(rows)});
    read_.insert(name);
    return tensor;
  }

  const GgufFile& file_;
  const ModelSpec& spec_;
  std::set<std::string> read_;
};

std::vector<Matrix> stacked(std::vector<Matrix::Part> parts, int inputs) {
  bool one_type = true;
  for (const auto& part : parts)
    one_type = one_type && part.type == parts.front().type;
  std::vector<Matrix> matrices;
  if (one_type) {
    matrices.emplace_back(std::move(parts), inputs);
    return matrices;
  }
  for (auto& part : parts) {
    std::vector<Matrix::Part> single;
    single.push_back(std::move(part));
    matrices.emplace_back(std::move(single), inputs);
  }
  return matrices;
}

LayerWeights load_layer(Loader& loader, const ModelSpec& spec, int layer) {
  const std::string prefix = "blk." + std::to_string(layer) + ".";
  std::vector<Matrix::Part> attention;
  attention.push_back(loader.rotary_part(prefix + "attn_q.weight", spec.heads, spec.width));
  attention.push_back(loader.rotary_part(prefix + "attn_k.weight", spec.kv_heads, spec.width));
  attention.push_back(loader.part(prefix + "attn_v.weight", spec.kv_heads * spec.head_dim, spec.width));
  std::vector<Matrix::Part> feed_forward;
  feed_forward.push_back(loader.part(prefix + "ffn_gate.weight", spec.feed_forward, spec.width));
  feed_forward.push_back(loader.part(prefix + "ffn_up.weight", spec.feed_forward, spec.width));
  return {loader.vector(prefix + "attn_norm.weight", spec.width),
          stacked(std::move(attention), spec.width),
          loader.matrix(prefix + "attn_output.weight", spec.width, spec.heads * spec.head_dim),
          loader.vector(prefix + "ffn_norm.weight", spec.width),
          stacked(std::move(feed_forward), spec.width),
          loader.matrix(prefix + "ffn_down.weight", spec.width, spec.feed_forward)};
}

std::int64_t held_by(const std::vector<Matrix>& matrices) {
  std::int64_t bytes = 0;
  for (const Matrix& matrix : matrices)
    bytes += matrix.held_bytes();
  return bytes;
}

std::int64_t held_by(const Weights& weights) {
  std::int64_t bytes =
      weights.embedding.held_bytes() + static_cast<std::int64_t>(weights.output_norm.buffer_size());
  if (weights.output) bytes += weights.output->held_bytes();
  for (const LayerWeights& layer : weights.layers) {
    bytes +=
        held_by(layer.query_key_value) + held_by(layer.gate_up) + layer.attention_output.held_bytes() +
        layer.down.held_bytes() +
        static_cast<std::int64_t>(layer.attention_norm.buffer_size() + layer.feed_forward_norm.buffer_size());
  }
  return bytes;
}

}  // namespace

Result<Weights> load_weights(const GgufFile& file, const ModelSpec& spec) {
  try {
    Loader loader(file, spec);
    Weights weights{loader.matrix("token_embd.weight", spec.vocabulary, spec.width),
                    {},
                    loader.vector("output_norm.weight", spec.width),
                    std::nullopt};
    for (int layer = 0; layer < spec.layers; ++layer)
      weights.layers.push_back(load_layer(loader, spec, layer));
    if (file.find("output.weight") != nullptr)
      weights.output = loader.matrix("output.weight", spec.vocabulary, spec.width);
    loader.require_all_read();
    weights.held_bytes = held_by(weights);
    return weights;
  } catch (const Failure& failure) {
    return tl::unexpected(failure.error());
  }
}

}  // namespace weir::llm
