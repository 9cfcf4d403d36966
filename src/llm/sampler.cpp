#include "llm/sampler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace weir::llm {

namespace {

struct Candidate {
  std::int32_t token;
  double probability;  // unnormalised until a filter needs the sum
};

bool likelier(const Candidate& a, const Candidate& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.token < b.token;
}

std::int32_t most_likely(std::span<const float> logits) {
  return static_cast<std::int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

std::vector<Candidate> weighted(std::span<const float> logits, double temperature) {
  const double top = *std::max_element(logits.begin(), logits.end());
  std::vector<Candidate> candidates;
  candidates.reserve(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    candidates.push_back({static_cast<std::int32_t>(i), std::exp((logits[i] - top) / temperature)});
  return candidates;
}

double mass(const std::vector<Candidate>& candidates) {
  return std::accumulate(candidates.begin(), candidates.end(), 0.0,
                         [](double sum, const Candidate& c) { return sum + c.probability; });
}

void keep_top_k(std::vector<Candidate>& candidates, int top_k) {
  const auto count = static_cast<std::size_t>(top_k);
  if (top_k == 0 || count >= candidates.size()) return;
  std::nth_element(candidates.begin(), candidates.begin() + top_k, candidates.end(), likelier);
  candidates.resize(count);
}

void keep_top_p(std::vector<Candidate>& candidates, double top_p) {
  if (top_p >= 1) return;
  std::sort(candidates.begin(), candidates.end(), likelier);
  const double wanted = top_p * mass(candidates);
  double sum = 0;
  std::size_t count = 0;
  while (count < candidates.size() && sum < wanted)
    sum += candidates[count++].probability;
  candidates.resize(std::max<std::size_t>(count, 1));
}

void keep_min_p(std::vector<Candidate>& candidates, double min_p) {
  if (min_p <= 0) return;
  const double top = std::min_element(candidates.begin(), candidates.end(), likelier)->probability;
  std::erase_if(candidates, [&](const Candidate& c) { return c.probability < min_p * top; });
}

Result<void> refuse(const char* option, double value, const char* range) {
  return fail(ErrorKind::kUsage, option, "must be " + std::string(range) + ": " + std::to_string(value));
}

}  // namespace

Result<void> validate(const SamplingOptions& options) {
  if (!std::isfinite(options.temperature) || options.temperature < 0 || options.temperature > 100)
    return refuse("--temperature", options.temperature, "from 0 to 100");
  if (options.top_k < 0) return refuse("--top-k", options.top_k, "0 (all) or more");
  if (!(options.top_p > 0 && options.top_p <= 1))
    return refuse("--top-p", options.top_p, "above 0 and at most 1");
  if (!(options.min_p >= 0 && options.min_p <= 1)) return refuse("--min-p", options.min_p, "from 0 to 1");
  return {};
}

std::int32_t Sampler::draw(std::span<const float> logits) {
  if (options_.temperature == 0) return most_likely(logits);
  auto candidates = weighted(logits, options_.temperature);
  keep_top_k(candidates, options_.top_k);
  keep_top_p(candidates, options_.top_p);
  keep_min_p(candidates, options_.min_p);
  const double uniform = static_cast<double>(random_() >> 11) * 0x1p-53;
  double left = uniform * mass(candidates);
  for (const Candidate& candidate : candidates) {
    left -= candidate.probability;
    if (left < 0) return candidate.token;
  }
  return candidates.back().token;
}

}  // namespace weir::llm
