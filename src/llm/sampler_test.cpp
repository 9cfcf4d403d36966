#include "llm/sampler.h"

#include <cmath>
#include <map>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace weir::llm {
namespace {

// Probabilities 0.5, 0.25, 0.125, 0.125 at temperature 1.
const std::vector<float> kLogits = {std::log(4.0F), std::log(2.0F), 0.0F, 0.0F};

std::map<std::int32_t, int> counts(const SamplingOptions& options, int draws = 20000) {
  Sampler sampler(options);
  std::map<std::int32_t, int> seen;
  for (int i = 0; i < draws; ++i)
    ++seen[sampler.draw(kLogits)];
  return seen;
}

std::set<std::int32_t> drawn(const SamplingOptions& options) {
  std::set<std::int32_t> tokens;
  for (const auto& [token, count] : counts(options))
    tokens.insert(token);
  return tokens;
}

TEST(Sampler, GreedyTakesTheLikeliestAndTheSmallerIdOfEquals) {
  Sampler sampler({});
  EXPECT_EQ(sampler.draw(kLogits), 0);
  const std::vector<float> tie = {1, 3, 3};
  EXPECT_EQ(sampler.draw(tie), 1);
}

TEST(Sampler, DrawsByProbability) {
  SamplingOptions options;
  options.temperature = 1;
  const auto seen = counts(options);
  EXPECT_NEAR(seen.at(0), 10000, 300);
  EXPECT_NEAR(seen.at(1), 5000, 250);
  EXPECT_NEAR(seen.at(3), 2500, 200);
}

TEST(Sampler, TemperatureSharpens) {
  SamplingOptions options;
  options.temperature = 0.5;  // squares the odds: 16 : 4 : 1 : 1
  EXPECT_NEAR(counts(options).at(0), 20000 * 16 / 22, 300);
}

TEST(Sampler, FiltersKeepTheirSets) {
  SamplingOptions options;
  options.temperature = 1;
  options.top_k = 2;
  EXPECT_EQ(drawn(options), (std::set<std::int32_t>{0, 1}));
  options.top_k = 0;
  options.top_p = 0.6;
  EXPECT_EQ(drawn(options), (std::set<std::int32_t>{0, 1}));
  options.top_p = 1;
  options.min_p = 0.3;  // of 0.5: keeps 0.25, drops 0.125
  EXPECT_EQ(drawn(options), (std::set<std::int32_t>{0, 1}));
  options.min_p = 1;
  EXPECT_EQ(drawn(options), (std::set<std::int32_t>{0}));
}

TEST(Sampler, RefusesValuesOutsideTheirRanges) {
  for (const SamplingOptions& bad : {SamplingOptions{-1, 0, 1, 0, 0}, SamplingOptions{NAN, 0, 1, 0, 0},
                                     SamplingOptions{1, -1, 1, 0, 0}, SamplingOptions{1, 0, 0, 0, 0},
                                     SamplingOptions{1, 0, 1.5, 0, 0}, SamplingOptions{1, 0, 1, -0.1, 0}}) {
    ASSERT_FALSE(validate(bad));
    EXPECT_EQ(validate(bad).error().kind, ErrorKind::kUsage);
  }
}

}  // namespace
}  // namespace weir::llm
