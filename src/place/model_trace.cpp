#include "place/model_trace.h"

#include <algorithm>
#include <random>

namespace weir::place {
namespace {

constexpr std::uint64_t kFloat = 4;
constexpr std::uint64_t kCacheStep = 256;

using Block = std::uint32_t;

struct Request {
  std::vector<Block> keys;  ///< By layer; empty before the first step.
  std::vector<Block> values;
  std::uint64_t tokens = 0;
  std::uint64_t capacity = 0;
  std::uint64_t prompt = 0;
  std::uint64_t to_decode = 0;
};

class Writer {
 public:
  Writer(const ModelShape& shape, std::uint64_t seed) : shape_(shape), random_(seed) {}

  Block grant(std::uint64_t bytes) {
    events_.push_back({next_, bytes, true});
    return next_++;
  }
  void free(Block block) { events_.push_back({block, 0, false}); }
  /// A free that comes a few events later, as from a scheduler that runs ahead.
  void free_soon(Block block) {
    pending_.push_back(block);
    while (pending_.size() > random_() % 6) {
      free(pending_.front());
      pending_.erase(pending_.begin());
    }
  }
  std::uint64_t drawn(std::uint64_t low, std::uint64_t high) { return low + random_() % (high - low + 1); }
  std::vector<TraceEvent> take() { return std::move(events_); }

  void load();
  void step(Request& request, std::uint64_t tokens);
  void end(Request& request);
  void train(std::uint64_t tokens);

 private:
  void weight(std::uint64_t values);
  void grow_cache(Request& request, std::uint32_t layer, std::uint64_t capacity);
  Block attention(Block normed, Request& request, std::uint32_t layer, std::uint64_t tokens);
  Block feed_forward(Block normed, std::uint64_t tokens);

  ModelShape shape_;
  std::mt19937_64 random_;
  std::vector<TraceEvent> events_;
  std::vector<Block> pending_;
  std::vector<std::pair<Block, std::uint64_t>> weights_;  ///< And how many values.
  Block next_ = 0;
};

/// Read at half width, then widened: a temporary beside each weight.
void Writer::weight(std::uint64_t values) {
  const Block read = grant(values * 2);
  weights_.push_back({grant(values * kFloat), values});
  free_soon(read);
}

void Writer::load() {
  weight(shape_.vocabulary * shape_.width);
  for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
    for (const std::uint64_t values :
         {shape_.width, shape_.width * shape_.width, shape_.width * shape_.kv_width,
          shape_.width * shape_.kv_width, shape_.width * shape_.width, shape_.width,
          shape_.width * shape_.inner, shape_.width * shape_.inner, shape_.width * shape_.inner})
      weight(values);
  }
}

void Writer::grow_cache(Request& request, std::uint32_t layer, std::uint64_t capacity) {
  for (std::vector<Block>* cache : {&request.keys, &request.values}) {
    const Block zeros = grant(kCacheStep * shape_.kv_width * kFloat);
    const Block grown = grant(capacity * shape_.kv_width * kFloat);
    free_soon(zeros);
    if (layer < cache->size()) {
      free_soon((*cache)[layer]);
      (*cache)[layer] = grown;
    } else {
      cache->push_back(grown);
    }
  }
}

Block Writer::attention(Block normed, Request& request, std::uint32_t layer, std::uint64_t tokens) {
  const std::uint64_t row = tokens * shape_.width * kFloat;
  const std::uint64_t kv_row = tokens * shape_.kv_width * kFloat;
  const Block query = grant(row);
  const Block key = grant(kv_row);
  const Block value = grant(kv_row);
  free_soon(normed);
  const Block turned = grant(row);
  free_soon(query);
  const Block turned_key = grant(kv_row);
  free_soon(key);
  if (request.tokens + tokens > request.capacity || layer >= request.keys.size())
    grow_cache(request, layer, (request.tokens + tokens + kCacheStep - 1) / kCacheStep * kCacheStep);
  free_soon(turned_key);
  free_soon(value);
  const Block scale = grant(4);
  const std::uint64_t score_bytes = shape_.heads * tokens * (request.tokens + tokens) * kFloat;
  const Block scores = grant(score_bytes);
  free_soon(turned);
  free_soon(scale);
  const Block weights = grant(score_bytes);
  free_soon(scores);
  const Block mixed = grant(row);
  free_soon(weights);
  const Block flat = grant(row);
  free_soon(mixed);
  const Block out = grant(row);
  free_soon(flat);
  return out;
}

Block Writer::feed_forward(Block normed, std::uint64_t tokens) {
  const std::uint64_t inner = tokens * shape_.inner * kFloat;
  const Block gate = grant(inner);
  const Block up = grant(inner);
  free_soon(normed);
  const Block sigmoid = grant(inner);
  const Block swish = grant(inner);
  free_soon(gate);
  free_soon(sigmoid);
  const Block product = grant(inner);
  free_soon(swish);
  free_soon(up);
  const Block down = grant(tokens * shape_.width * kFloat);
  free_soon(product);
  return down;
}

void Writer::step(Request& request, std::uint64_t tokens) {
  const std::uint64_t row = tokens * shape_.width * kFloat;
  const Block ids = grant(tokens * 4);
  Block stream = grant(row);
  free_soon(ids);
  for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
    for (const bool first : {true, false}) {
      const Block normed = grant(row);
      const Block change = first ? attention(normed, request, layer, tokens) : feed_forward(normed, tokens);
      const Block sum = grant(row);
      free_soon(stream);
      free_soon(change);
      stream = sum;
    }
  }
  request.tokens += tokens;
  request.capacity = std::max(request.capacity, (request.tokens + kCacheStep - 1) / kCacheStep * kCacheStep);
  const Block logits = grant(shape_.vocabulary * kFloat);
  free_soon(stream);
  const Block chances = grant(shape_.vocabulary * kFloat);
  free_soon(logits);
  free_soon(grant(4));
  free_soon(chances);
}

void Writer::end(Request& request) {
  for (const std::vector<Block>* cache : {&request.keys, &request.values})
    for (const Block block : *cache)
      free_soon(block);
  request = Request{};
}

void Writer::train(std::uint64_t tokens) {
  const std::uint64_t row = tokens * shape_.width * kFloat;
  const std::uint64_t inner = tokens * shape_.inner * kFloat;
  const std::uint64_t scores = shape_.heads * tokens * tokens / 2 * kFloat;
  const std::vector<std::uint64_t> kept_of_layer{row, row, row, row, scores, row, inner, inner, inner, row};
  std::vector<Block> kept;
  for (std::uint32_t layer = 0; layer < shape_.layers; ++layer) {
    for (const std::uint64_t bytes : kept_of_layer) {
      kept.push_back(grant(bytes));
      free_soon(grant(bytes));
    }
  }
  std::vector<Block> gradients(weights_.size());
  for (std::size_t i = weights_.size(); i-- > 0;) {
    gradients[i] = grant(weights_[i].second * kFloat);
    free_soon(grant(inner));
    free_soon(grant(row));
    for (std::size_t end = kept.size() * i / weights_.size(); kept.size() > end; kept.pop_back())
      free_soon(kept.back());
  }
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Block updated = grant(weights_[i].second * kFloat);
    free_soon(grant(weights_[i].second * kFloat));
    free_soon(weights_[i].first);
    free_soon(gradients[i]);
    weights_[i].first = updated;
  }
}

}  // namespace

std::vector<TraceEvent> training_trace(const ModelShape& shape, std::uint32_t steps, std::uint64_t longest,
                                       std::uint64_t seed) {
  Writer writer(shape, seed);
  writer.load();
  for (std::uint32_t step = 0; step < steps; ++step)
    writer.train(2 * writer.drawn(32, longest));
  return writer.take();
}

std::vector<TraceEvent> model_trace(const ModelShape& shape, std::uint32_t requests, std::uint64_t longest,
                                    std::uint32_t lanes, std::uint64_t seed) {
  Writer writer(shape, seed);
  if (shape.weights) writer.load();
  std::vector<Request> running(lanes);
  for (std::uint32_t started = 0; started < requests;) {
    for (Request& request : running) {
      if (request.to_decode > 0) {
        writer.step(request, 1);
        if (--request.to_decode == 0) writer.end(request);
        continue;
      }
      request.to_decode = writer.drawn(8, 40);
      writer.step(request, writer.drawn(50, longest));
      ++started;
    }
  }
  return writer.take();
}

}  // namespace weir::place
