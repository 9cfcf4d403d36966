#include "llm/llama.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>
#include <mlx/memory.h>

#include "llm/gguf/naive_llama.h"
#include "llm/gguf/tiny_llama.h"

namespace weir::llm {
namespace {

namespace mx = mlx::core;

Llama load(const GgufFile& file) {
  const ModelSpec spec = value_or_throw(model_spec_from(file));
  return Llama(spec, value_or_throw(load_weights(file, spec)));
}

std::vector<std::int32_t> sequence(int count, int vocabulary) {
  std::vector<std::int32_t> tokens;
  for (int i = 0; i < count; ++i)
    tokens.push_back((i * 7919 + 13) % vocabulary);
  return tokens;
}

/// Logits of every position, computed in chunks of `chunk` tokens.
std::vector<float> logits_in_chunks(const Llama& llama, const std::vector<std::int32_t>& tokens,
                                    std::size_t chunk) {
  KvCache cache(llama.spec(), static_cast<int>(tokens.size()));
  std::vector<float> all;
  for (std::size_t at = 0; at < tokens.size(); at += chunk) {
    const auto part = std::span(tokens).subspan(at, std::min(chunk, tokens.size() - at));
    const mx::array logits = llama.step(part, cache, LogitsOf::kAllTokens);
    all.insert(all.end(), logits.data<float>(), logits.data<float>() + logits.size());
  }
  return all;
}

double largest_difference(const std::vector<float>& logits, const std::vector<NaiveLlama::Row>& expected) {
  double largest = 0;
  std::size_t at = 0;
  for (const auto& row : expected)
    for (const double value : row)
      largest = std::max(largest, std::fabs(value - static_cast<double>(logits.at(at++))));
  EXPECT_EQ(at, logits.size());
  return largest;
}

struct Case {
  const char* name;
  TinyLlama shape;
};

TinyLlama shaped(std::uint32_t layers, std::uint32_t width, std::uint32_t heads, std::uint32_t kv_heads,
                 std::uint32_t feed_forward, GgmlType type, bool tied, GgmlType embedding) {
  TinyLlama shape;
  shape.layers = layers;
  shape.width = width;
  shape.heads = heads;
  shape.kv_heads = kv_heads;
  shape.feed_forward = feed_forward;
  shape.attention = shape.feed_forward_type = type;
  shape.tied = tied;
  shape.embedding = embedding;
  shape.output = embedding;
  shape.seed = layers * 31 + width;
  return shape;
}

class LlamaAgainstNaive : public testing::TestWithParam<Case> {};

TEST_P(LlamaAgainstNaive, LogitsAreWithinOneThousandthForEveryPositionAndChunk) {
  const TemporaryFile model = tiny_llama_file(GetParam().shape);
  const GgufFile file = value_or_throw(GgufFile::open(model.path()));
  const NaiveLlama naive = value_or_throw(NaiveLlama::load(file));
  const Llama llama = load(file);
  const auto tokens = sequence(37, llama.spec().vocabulary);
  const auto expected = naive.forward(tokens);
  for (const std::size_t chunk : {std::size_t{37}, std::size_t{7}, std::size_t{1}})
    EXPECT_LT(largest_difference(logits_in_chunks(llama, tokens, chunk), expected.logits), 1e-3)
        << "chunk " << chunk;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, LlamaAgainstNaive,
    testing::Values(
        Case{"ThreeHeadsToOneQ4_1", shaped(2, 96, 3, 1, 224, GgmlType::kQ4_1, true, GgmlType::kQ8_0)},
        Case{"FiveHeadsOddSizesQ8_0", shaped(3, 160, 5, 5, 352, GgmlType::kQ8_0, false, GgmlType::kQ8_0)},
        Case{"SixToTwoQ4_0", shaped(2, 192, 6, 2, 416, GgmlType::kQ4_0, true, GgmlType::kF16)},
        Case{"F32", shaped(2, 96, 4, 2, 160, GgmlType::kF32, true, GgmlType::kF32)},
        Case{"F16", shaped(1, 64, 2, 1, 96, GgmlType::kF16, false, GgmlType::kBF16)},
        Case{"BF16", shaped(1, 64, 2, 1, 96, GgmlType::kBF16, true, GgmlType::kQ4_0)}),
    [](const auto& shape) { return std::string(shape.param.name); });

TEST(Llama, StacksOnlyMatricesOfOneType) {
  TinyLlama shape;
  GgufBuilder builder = tiny_llama(shape);
  // The value projection in another type than query and key: three matrices instead of one.
  std::vector<float> values(shape.width * shape.kv_heads * shape.head_dim());
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = 0.01F * static_cast<float>(i % 17) - 0.08F;
  builder.remove_tensor("blk.1.attn_v.weight");
  builder.add_tensor("blk.1.attn_v.weight", {shape.width, shape.kv_heads * shape.head_dim()}, GgmlType::kQ8_0,
                     values);
  const TemporaryFile model(builder.bytes());
  const GgufFile file = value_or_throw(GgufFile::open(model.path()));
  const Llama llama = load(file);
  const auto tokens = sequence(9, llama.spec().vocabulary);
  const auto expected = value_or_throw(NaiveLlama::load(file)).forward(tokens);
  EXPECT_LT(largest_difference(logits_in_chunks(llama, tokens, 9), expected.logits), 1e-3);
  EXPECT_LT(largest_difference(logits_in_chunks(llama, tokens, 1), expected.logits), 1e-3);
}

TEST(KvCache, IsWrittenInPlace) {
  const TemporaryFile model = tiny_llama_file();
  const Llama llama = load(value_or_throw(GgufFile::open(model.path())));
  KvCache cache(llama.spec(), 256);
  const std::vector<std::int32_t> one{5};
  (void)llama.step(one, cache, LogitsOf::kLastToken);
  std::vector<const void*> before, after;
  for (const auto& array : cache.arrays())
    before.push_back(array.data<void>());
  (void)llama.step(one, cache, LogitsOf::kLastToken);
  for (const auto& array : cache.arrays())
    after.push_back(array.data<void>());
  EXPECT_EQ(before, after);
  EXPECT_EQ(cache.tokens(), 2);
}

TEST(KvCache, HoldsTheBytesItSays) {
  const TemporaryFile model = tiny_llama_file();
  const Llama llama = load(value_or_throw(GgufFile::open(model.path())));
  const std::size_t before = mx::get_active_memory();
  const KvCache cache(llama.spec(), 300);
  EXPECT_EQ(cache.capacity_tokens(), 512);
  EXPECT_EQ(static_cast<std::int64_t>(mx::get_active_memory() - before), cache.held_bytes());
}

TEST(Weights, HoldTheBytesTheySay) {
  const TemporaryFile model = tiny_llama_file();
  const std::size_t before = mx::get_active_memory();
  const Llama llama = load(value_or_throw(GgufFile::open(model.path())));
  EXPECT_EQ(static_cast<std::int64_t>(mx::get_active_memory() - before), llama.weight_bytes());
}

TEST(Weights, RefuseAMissingAForeignAndAMisshapenTensorByName) {
  const auto error_of = [](GgufBuilder builder) {
    const TemporaryFile model(builder.bytes());
    const GgufFile file = value_or_throw(GgufFile::open(model.path()));
    const auto spec = model_spec_from(file);
    if (!spec) return spec.error();
    const auto weights = load_weights(file, *spec);
    return weights ? Error{ErrorKind::kInternal, "", "accepted"} : weights.error();
  };
  GgufBuilder missing = tiny_llama();
  missing.remove_tensor("blk.1.ffn_down.weight");
  EXPECT_NE(error_of(missing).message.find("blk.1.ffn_down.weight"), std::string::npos);
  GgufBuilder foreign = tiny_llama();
  foreign.add_tensor("blk.0.attn_q.bias", {32}, GgmlType::kF32, std::vector<float>(32));
  EXPECT_NE(error_of(foreign).message.find("blk.0.attn_q.bias"), std::string::npos);
  GgufBuilder misshapen = tiny_llama();
  misshapen.remove_tensor("output_norm.weight");
  misshapen.add_tensor("output_norm.weight", {64}, GgmlType::kF32, std::vector<float>(64));
  EXPECT_EQ(error_of(misshapen).kind, ErrorKind::kBadData);
  EXPECT_NE(error_of(misshapen).message.find("output_norm.weight"), std::string::npos);
}

TEST(ModelSpec, RefusesOtherArchitecturesAndNumbersThatDoNotFit) {
  const auto spec_of = [](GgufBuilder builder) {
    const TemporaryFile model(builder.bytes());
    return model_spec_from(value_or_throw(GgufFile::open(model.path())));
  };
  EXPECT_TRUE(spec_of(tiny_llama()));
  EXPECT_NE(spec_of(tiny_llama().set_value("general.architecture", std::string("qwen2")))
                .error()
                .message.find("qwen2"),
            std::string::npos);
  for (const auto& [key, value] :
       std::vector<std::pair<std::string, std::uint32_t>>{{"llama.attention.head_count", 0},
                                                          {"llama.attention.head_count_kv", 2},
                                                          {"llama.block_count", 4294967295U},
                                                          {"llama.rope.dimension_count", 8},
                                                          {"llama.expert_count", 4}}) {
    const auto spec = spec_of(tiny_llama().set_value(key, value));
    ASSERT_FALSE(spec) << key;
    EXPECT_EQ(spec.error().kind, ErrorKind::kBadData) << key;
  }
}

}  // namespace
}  // namespace weir::llm
