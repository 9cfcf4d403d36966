#pragma once

#include <cstdint>
#include <vector>

namespace weir::place {

/// One grant or free of a trace.
struct TraceEvent {
  std::uint32_t block = 0;
  std::uint64_t bytes = 0;  ///< Of a grant.
  bool grant = true;
};

/// A language model as its allocator sees it, for tests: weights that stay, caches of keys and values that
/// grow by steps of 256 tokens and end with their request, temporaries of each layer that end soon.
struct ModelShape {
  std::uint32_t layers = 12;
  std::uint64_t width = 576;
  std::uint64_t kv_width = 192;
  std::uint64_t heads = 9;
  std::uint64_t inner = 1536;
  std::uint64_t vocabulary = 49'152;
  bool weights = true;  ///< Otherwise they are mapped from their file, no blocks.
};

/// `requests` prompts of 50 to `longest` tokens, some tokens decoded after each, two requests at a time where
/// `lanes` is 2. Same seed, same trace.
std::vector<TraceEvent> model_trace(const ModelShape& shape, std::uint32_t requests, std::uint64_t longest,
                                    std::uint32_t lanes, std::uint64_t seed);

/// `steps` of training on batches of 2 × 32 to 2 × `longest` tokens: what each layer computes stays until its
/// gradient is there, then each weight is replaced by a new one.
std::vector<TraceEvent> training_trace(const ModelShape& shape, std::uint32_t steps, std::uint64_t longest,
                                       std::uint64_t seed);

}  // namespace weir::place
