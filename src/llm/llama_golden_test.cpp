// SmolLM2 against goldens made by another implementation; see tests/goldens/README.md.
#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "llm/engine.h"
#include "llm/models.h"

namespace weir::llm {
namespace {

namespace mx = mlx::core;

constexpr double kNearTie = 0.05;  // margins below this are listed, not compared

class SmolLm2 : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto file = value_or_throw(GgufFile::open(value_or_throw(find_model(std::string(kDefaultModel)))));
    const ModelSpec spec = value_or_throw(model_spec_from(file));
    llama_ = std::make_unique<Llama>(spec, value_or_throw(load_weights(file, spec)));
    std::ifstream in(WEIR_SOURCE_DIR "/tests/goldens/smollm2_f32_top1.json");
    goldens_ = nlohmann::json::parse(in);
  }
  static void TearDownTestSuite() { llama_.reset(); }

  static std::unique_ptr<Llama> llama_;
  static nlohmann::json goldens_;
};

std::unique_ptr<Llama> SmolLm2::llama_;
nlohmann::json SmolLm2::goldens_;

std::int32_t top(const float* row, int size) {
  return static_cast<std::int32_t>(std::max_element(row, row + size) - row);
}

TEST_F(SmolLm2, AgreesOnTheLikeliestTokenOfEveryPosition) {
  int positions = 0, differing = 0, near_ties = 0;
  for (const auto& passage : goldens_["passages"]) {
    const std::vector<std::int32_t> tokens = passage["tokens"];
    KvCache cache(llama_->spec(), static_cast<int>(tokens.size()));
    const mx::array logits = llama_->step(tokens, cache, LogitsOf::kAllTokens);
    for (std::size_t i = 0; i < tokens.size(); ++i, ++positions) {
      const std::int32_t got =
          top(logits.data<float>() + i * static_cast<std::size_t>(llama_->spec().vocabulary),
              llama_->spec().vocabulary);
      if (got == passage["top1"][i].get<std::int32_t>()) continue;
      const double margin = passage["margin"][i];
      ++(margin < kNearTie ? near_ties : differing);
      std::printf("differs: %s position %zu, margin %g\n", passage["name"].get<std::string>().c_str(), i,
                  margin);
    }
  }
  EXPECT_GE(positions, 500);
  EXPECT_EQ(differing, 0);
  EXPECT_LE((differing + near_ties) * 100, positions) << near_ties << " near ties differ";
}

TEST_F(SmolLm2, ProbeLogitsAreClose) {
  for (const auto& passage : goldens_["passages"]) {
    const std::vector<std::int32_t> tokens = passage["tokens"];
    KvCache cache(llama_->spec(), static_cast<int>(tokens.size()));
    const mx::array logits = llama_->step(tokens, cache, LogitsOf::kAllTokens);
    for (const auto& probe : passage["probes"]) {
      const auto row = probe["pos"].get<std::size_t>() * static_cast<std::size_t>(llama_->spec().vocabulary);
      for (std::size_t i = 0; i < probe["ids"].size(); ++i)
        EXPECT_NEAR(logits.data<float>()[row + probe["ids"][i].get<std::size_t>()],
                    probe["logits"][i].get<double>(), 5e-3);
    }
  }
}

/// Greedy tokens after a prompt that was prefilled in chunks of `chunk`.
std::vector<std::int32_t> greedy(const Llama& llama, const std::vector<std::int32_t>& prompt,
                                 std::size_t chunk, std::size_t count) {
  KvCache cache(llama.spec(), static_cast<int>(prompt.size() + count));
  mx::array logits(0.0F);
  for (std::size_t at = 0; at < prompt.size(); at += chunk) {
    const auto part = std::span(prompt).subspan(at, std::min(chunk, prompt.size() - at));
    logits = llama.step(part, cache, LogitsOf::kLastToken);
  }
  std::vector<std::int32_t> drawn;
  for (;;) {
    drawn.push_back(top(logits.data<float>(), llama.spec().vocabulary));
    if (drawn.size() == count) return drawn;
    logits = llama.step({&drawn.back(), 1}, cache, LogitsOf::kLastToken);
  }
}

TEST_F(SmolLm2, GreedyTextsEqualTheGoldens) {
  for (const auto& golden : goldens_["greedy"]) {
    const std::vector<std::int32_t> expected = golden["ids"];
    EXPECT_EQ(greedy(*llama_, golden["tokens"], 512, expected.size()), expected) << golden["prompt"];
  }
}

TEST_F(SmolLm2, ChunkSizesDoNotChangeTheTokens) {
  std::vector<std::int32_t> prompt;
  for (const char* name : {"prose", "dialogue"})
    for (const auto& passage : goldens_["passages"])
      if (passage["name"] == name)
        for (const auto& token : passage["tokens"])
          prompt.push_back(token);
  ASSERT_GT(prompt.size(), 64u);
  const auto whole = greedy(*llama_, prompt, 512, 12);
  for (const std::size_t chunk : {1, 7, 64})
    EXPECT_EQ(greedy(*llama_, prompt, chunk, 12), whole) << "chunk " << chunk;
}

}  // namespace
}  // namespace weir::llm
