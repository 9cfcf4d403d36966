#include "llm/engine.h"

#include <cmath>

#include <gtest/gtest.h>

#include "llm/gguf/naive_llama.h"
#include "llm/gguf/tiny_llama.h"
#include "llm/text_run.h"

namespace weir::llm {
namespace {

class EngineTest : public testing::Test {
 protected:
  EngineTest() : model_(tiny_llama_file()), governor_(govern::mlx_memory()) {
    engine_ = value_or_throw(Engine::load(model_.path(), governor_));
  }
  EngineResult run(EngineRequest request) {
    return value_or_throw(engine_->run(request, [](TokenId) { return true; }));
  }

  TemporaryFile model_;
  govern::Governor governor_;
  std::unique_ptr<Engine> engine_;
};

EngineRequest request(std::vector<TokenId> prompt, int tokens) {
  EngineRequest request;
  request.prompt = std::move(prompt);
  request.max_tokens = tokens;
  request.ignore_eos = true;
  return request;
}

TEST_F(EngineTest, GreedyTokensEqualTheNaiveModelsForEveryChunkSize) {
  const auto naive = value_or_throw(NaiveLlama::load(value_or_throw(GgufFile::open(model_.path()))));
  const std::vector<TokenId> prompt{70, 101, 4, 9, 33, 250, 17};
  const auto expected = naive.greedy(prompt, 8);
  for (const int chunk : {1, 3, 512}) {
    EngineRequest chunked = request(prompt, 8);
    chunked.chunk_tokens = chunk;
    const EngineResult result = run(chunked);
    EXPECT_EQ(result.tokens, expected) << "chunk " << chunk;
    EXPECT_EQ(result.finish_reason, "length");
    EXPECT_EQ(result.drawn_tokens, 8);
  }
}

TEST_F(EngineTest, FreesItsKeysAndValuesAndTagsSumToLive) {
  (void)run(request({5, 6, 7}, 4));
  const auto layers = engine_->layers();
  ASSERT_TRUE(layers);
  std::int64_t sum = 0;
  for (const auto& [tag, bytes] : layers->tags)
    sum += bytes;
  EXPECT_EQ(sum, layers->live);
  EXPECT_EQ(layers->tags.at("kv"), 0);
  EXPECT_GT(layers->tags.at("weights"), 0);
}

TEST_F(EngineTest, RefusesWhatDoesNotFitTheContext) {
  const auto refused = engine_->run(request(std::vector<TokenId>(500, 5), 100), [](TokenId) { return true; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
  EXPECT_NE(refused.error().message.find("512"), std::string::npos);
  EXPECT_FALSE(engine_->run(request({}, 1), [](TokenId) { return true; }));
}

TEST_F(EngineTest, StopsWhenTheCallbackSaysSo) {
  int seen = 0;
  const auto result = engine_->run(request({5, 6}, 10), [&](TokenId) { return ++seen < 3; });
  ASSERT_TRUE(result);
  EXPECT_EQ(result->finish_reason, "stop");
  EXPECT_EQ(result->drawn_tokens, 3);
}

TEST_F(EngineTest, TheSameSeedDrawsTheSameTokens) {
  EngineRequest drawn = request({5, 6, 7}, 12);
  drawn.sampling.temperature = 1.5;
  drawn.sampling.seed = 7;
  const auto first = run(drawn).tokens;
  EXPECT_EQ(run(drawn).tokens, first);
  drawn.sampling.seed = 8;
  EXPECT_NE(run(drawn).tokens, first);
}

TEST_F(EngineTest, TextIsStreamedWholeAndCutAtStopStrings) {
  TextRequest text;
  text.prompt = "abc";
  text.raw = true;
  text.engine = request({}, 16);
  std::string streamed;
  const auto whole =
      value_or_throw(run_text(*engine_, text, [&](std::string_view piece) { streamed += piece; }));
  EXPECT_EQ(streamed, whole.text);
  EXPECT_EQ(whole.prompt_tokens, 3);
  ASSERT_GT(whole.text.size(), 4u);
  text.stops = {whole.text.substr(2, 2)};
  const auto cut = value_or_throw(run_text(*engine_, text, [](std::string_view) {}));
  EXPECT_EQ(cut.text, whole.text.substr(0, whole.text.find(text.stops[0])));
  EXPECT_EQ(cut.engine.finish_reason, "stop");
}

TEST(EngineLoad, WeightsThatAreNoNumbersEndARunInsteadOfAnAnswer) {
  GgufBuilder builder = tiny_llama();
  builder.remove_tensor("output_norm.weight");
  builder.add_tensor("output_norm.weight", {96}, GgmlType::kF32, std::vector<float>(96, std::nanf("")));
  const TemporaryFile model(builder.bytes());
  govern::Governor governor(govern::mlx_memory());
  const auto engine = value_or_throw(Engine::load(model.path(), governor));
  try {
    (void)engine->run(request({5, 6}, 2), [](TokenId) { return true; });
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().kind, ErrorKind::kBadData);
  }
}

TEST(EngineLoad, RefusesTypesItCannotComputeBeforeReadingAWeight) {
  GgufBuilder builder = tiny_llama();
  builder.remove_tensor("blk.0.ffn_up.weight");
  builder.add_raw_tensor("blk.0.ffn_up.weight", {256, 32}, 12, std::string(32 * 144, '\0'));  // Q4_K
  const TemporaryFile model(builder.bytes());
  govern::Governor governor(govern::mlx_memory());
  const auto engine = Engine::load(model.path(), governor);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().kind, ErrorKind::kBadData);
  EXPECT_NE(describe(engine.error()).find("Q4_K"), std::string::npos);
}

}  // namespace
}  // namespace weir::llm
