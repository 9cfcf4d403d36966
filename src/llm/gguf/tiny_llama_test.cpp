#include "llm/gguf/tiny_llama.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "llm/gguf/blocks.h"
#include "llm/gguf/naive_llama.h"
#include "llm/gguf/reader.h"

namespace weir::llm {
namespace {

NaiveLlama naive(const TinyLlama& shape) {
  const TemporaryFile file = tiny_llama_file(shape);
  return value_or_throw(NaiveLlama::load(value_or_throw(GgufFile::open(file.path()))));
}

double distance(const NaiveLlama::Row& a, const NaiveLlama::Row& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(TinyLlamaFile, OpensInEveryShapeAndMixOfTypes) {
  const GgmlType types[] = {GgmlType::kF32,  GgmlType::kF16,  GgmlType::kBF16,
                            GgmlType::kQ8_0, GgmlType::kQ4_0, GgmlType::kQ4_1};
  for (const GgmlType type : types) {
    const TinyLlama shapes[] = {{.attention = type, .feed_forward_type = type},
                                {.layers = 3, .width = 160, .heads = 8, .kv_heads = 2, .embedding = type},
                                {.width = 160, .heads = 5, .kv_heads = 5, .tied = false, .output = type}};
    for (const TinyLlama& shape : shapes) {
      const TemporaryFile file = tiny_llama_file(shape);
      const GgufFile gguf = value_or_throw(GgufFile::open(file.path()));
      EXPECT_TRUE(require_supported_types(gguf));
      EXPECT_EQ(gguf.find("output.weight") == nullptr, shape.tied);
      EXPECT_EQ(gguf.tensors().size(), 2 + 9 * shape.layers + (shape.tied ? 0 : 1));
    }
  }
}

TEST(TinyLlamaFile, HasATokenForEveryByteAndEveryMerge) {
  const std::vector<std::string> tokens = tiny_tokens();
  const std::set<std::string> known(tokens.begin(), tokens.end());
  EXPECT_EQ(known.size(), tokens.size());
  EXPECT_EQ(tokens.size(), 3 + 256 + tiny_merges().size());
  EXPECT_EQ(tokens[3 + ' '], "\xc4\xa0");
  EXPECT_EQ(tokens[3 + '\n'], "\xc4\x8a");
  EXPECT_EQ(tokens[3 + 0xe9], "é");
  for (const std::string& merge : tiny_merges()) {
    const std::size_t gap = merge.find(' ');
    EXPECT_TRUE(known.count(merge.substr(0, gap)) && known.count(merge.substr(gap + 1))) << merge;
  }
}

TEST(TinyLlamaFile, IsTheSameForTheSameSeed) {
  EXPECT_EQ(tiny_llama().bytes(), tiny_llama().bytes());
  EXPECT_NE(tiny_llama({.seed = 2}).bytes(), tiny_llama().bytes());
}

TEST(NaiveLlama, SeesNoLaterToken) {
  const NaiveLlama model = naive({});
  const std::int32_t tokens[] = {5, 17, 200, 3, 99};
  const NaiveLlama::Output whole = model.forward(tokens);
  const NaiveLlama::Output start = model.forward(std::span(tokens, 3));
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(whole.logits[i], start.logits[i]);
  const std::int32_t other[] = {5, 18, 200, 3, 99};
  const NaiveLlama::Output changed = model.forward(other);
  EXPECT_EQ(whole.logits[0], changed.logits[0]);
  EXPECT_GT(distance(whole.logits[4], changed.logits[4]), 1e-3);
}

TEST(NaiveLlama, TellsTheOrderOfTokensByRotation) {
  const NaiveLlama model = naive({.layers = 1});
  // With one layer and no rotation, the last position would see a set, not an order.
  const NaiveLlama::Output one = model.forward(std::vector<std::int32_t>{7, 8, 9});
  const NaiveLlama::Output two = model.forward(std::vector<std::int32_t>{8, 7, 9});
  EXPECT_GT(distance(one.logits.back(), two.logits.back()), 1e-3);
}

TEST(NaiveLlama, RepeatedTokensAttendToOneValue) {
  // Equal tokens have equal values in the first layer, so any weights mix them to the same.
  const NaiveLlama model = naive({.layers = 1});
  const NaiveLlama::Output out = model.forward(std::vector<std::int32_t>{42, 42, 42, 42});
  EXPECT_LT(distance(out.logits[0], out.logits[3]), 1e-12);
}

TEST(NaiveLlama, WritesOutTheResidualStreamOfEachLayer) {
  const TinyLlama shape{.layers = 3};
  const NaiveLlama::Output out = naive(shape).forward(std::vector<std::int32_t>{1, 2});
  ASSERT_EQ(out.hidden.size(), 3u);
  EXPECT_EQ(out.hidden[0].size(), 2u);
  EXPECT_EQ(out.hidden[0][0].size(), shape.width);
  EXPECT_EQ(out.logits[0].size(), tiny_tokens().size());
}

TEST(NaiveLlama, UsesItsOwnOutputMatrixWhenTheFileHasOne) {
  const std::vector<std::int32_t> tokens = {1, 2};
  const NaiveLlama::Output tied = naive({}).forward(tokens);
  const NaiveLlama::Output untied = naive({.tied = false}).forward(tokens);
  EXPECT_EQ(tied.hidden, untied.hidden);
  EXPECT_GT(distance(tied.logits[1], untied.logits[1]), 1e-3);
}

TEST(NaiveLlama, NamesTheTensorThatIsMissing) {
  const TemporaryFile file(tiny_llama().remove_tensor("blk.1.attn_v.weight").bytes());
  const Result<NaiveLlama> model = NaiveLlama::load(value_or_throw(GgufFile::open(file.path())));
  ASSERT_FALSE(model);
  EXPECT_NE(model.error().message.find("'blk.1.attn_v.weight'"), std::string::npos);
}

}  // namespace
}  // namespace weir::llm
