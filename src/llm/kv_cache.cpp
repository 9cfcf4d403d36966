#include "llm/kv_cache.h"

#include <mlx/ops.h>
#include <mlx/transforms.h>

#include "base/check.h"

namespace weir::llm {

namespace mx = mlx::core;

KvCache::KvCache(const ModelSpec& spec, int capacity_tokens) : capacity_(rounded_capacity(capacity_tokens)) {
  const mx::Shape shape{spec.kv_heads, capacity_, spec.head_dim};
  for (int layer = 0; layer < spec.layers; ++layer) {
    keys_.push_back(mx::zeros(shape, mx::float32));
    values_.push_back(mx::zeros(shape, mx::float32));
  }
  // zeros() is a broadcast until something writes: a copy per array makes each its own buffer.
  for (auto* side : {&keys_, &values_})
    for (auto& array : *side)
      array = mx::contiguous(array);
  mx::eval(arrays());
  for (const auto& array : arrays())
    held_bytes_ += static_cast<std::int64_t>(array.buffer_size());
}

KvCache::Window KvCache::append(int layer, const mx::array& keys, const mx::array& values) {
  const int added = keys.shape(1);
  const int end = tokens_ + added;
  WEIR_CHECK_LE(end, capacity_);
  auto& all_keys = keys_.at(static_cast<std::size_t>(layer));
  auto& all_values = values_.at(static_cast<std::size_t>(layer));
  const mx::Shape start{0, tokens_, 0};
  const mx::Shape stop{keys.shape(0), end, keys.shape(2)};
  // The old array is dropped here, so that the update owns the buffer and writes in place.
  all_keys = mx::slice_update(all_keys, keys, start, stop);
  all_values = mx::slice_update(all_values, values, start, stop);
  const mx::Shape origin{0, 0, 0};
  return {mx::slice(all_keys, origin, stop), mx::slice(all_values, origin, stop)};
}

void KvCache::advance(int tokens) {
  WEIR_CHECK_LE(tokens_ + tokens, capacity_);
  tokens_ += tokens;
}

std::vector<mx::array> KvCache::arrays() const {
  std::vector<mx::array> all = keys_;
  all.insert(all.end(), values_.begin(), values_.end());
  return all;
}

}  // namespace weir::llm
