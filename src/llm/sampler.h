#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>

#include "base/error.h"

namespace weir::llm {

/// How the next token is drawn. The filters apply in this order: top-k, top-p, min-p, on probabilities after
/// the temperature. Defaults draw greedily.
struct SamplingOptions {
  double temperature = 0;  ///< 0: the most likely token, ties to the smaller id.
  int top_k = 0;           ///< 0: all tokens.
  double top_p = 1;        ///< Smallest set of likeliest tokens whose mass reaches this; in (0, 1].
  double min_p = 0;        ///< Drops tokens below this share of the likeliest one; in [0, 1].
  std::uint64_t seed = 0;
};

/// Refuses values outside their ranges (kUsage, naming the option).
[[nodiscard]] Result<void> validate(const SamplingOptions& options);

/// Draws tokens; the same seed and logits give the same tokens on every machine (own uniform conversion of
/// std::mt19937_64, whose sequence the standard fixes). Not thread-safe.
class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options) : options_(options), random_(options.seed) {}
  /// `logits` holds one value per token and at least one finite value.
  [[nodiscard]] std::int32_t draw(std::span<const float> logits);

 private:
  SamplingOptions options_;
  std::mt19937_64 random_;
};

}  // namespace weir::llm
