#include "llm/gguf/blocks.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "base/error.h"
#include "llm/gguf/encode_blocks.h"

namespace weir::llm {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int value : values)
    bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

std::vector<float> dequantized(GgmlType type, std::span<const std::byte> source, std::size_t count) {
  std::vector<float> out(count);
  dequantize_rows(type, source, out);
  return out;
}

/// Any bytes; then every half-precision number in them is made finite by clearing one exponent bit.
std::vector<std::byte> random_blocks(GgmlType type, std::size_t elements, std::uint64_t seed) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(stored_bytes(type, elements)));
  for (std::byte& byte : bytes) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    byte = static_cast<std::byte>(seed >> 56);
  }
  const GgmlTypeInfo& info = type_info(type);
  for (std::size_t at = 0; at < bytes.size(); at += info.block_bytes) {
    bytes[at + 1] &= std::byte{0xbf};
    if (type == GgmlType::kQ4_1) bytes[at + 3] &= std::byte{0xbf};
  }
  return bytes;
}

/// MLX's affine form read by its definition.
float affine_value(std::span<const std::uint32_t> packed, std::span<const float> scales,
                   std::span<const float> biases, std::size_t bits, std::size_t element) {
  const std::size_t per_word = 32 / bits;
  const std::uint32_t word = packed[element / per_word];
  const std::uint32_t code = word >> (element % per_word * bits) & ((1u << bits) - 1);
  return scales[element / 32] * static_cast<float>(code) + biases[element / 32];
}

TEST(HalfPrecision, WidensKnownNumbersExactly) {
  EXPECT_EQ(f32_from_f16(0x3c00), 1.0f);
  EXPECT_EQ(f32_from_f16(0xc000), -2.0f);
  EXPECT_EQ(f32_from_f16(0x3555), 0.333251953125f);
  EXPECT_EQ(f32_from_f16(0x7bff), 65504.0f);
  EXPECT_EQ(f32_from_f16(0x0400), 0x1p-14f);
  EXPECT_EQ(f32_from_f16(0x03ff), 1023 * 0x1p-24f);
  EXPECT_EQ(f32_from_f16(0x0001), 0x1p-24f);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(f32_from_f16(0x8000)), 0x80000000u);
  EXPECT_EQ(f32_from_f16(0x7c00), std::numeric_limits<float>::infinity());
  EXPECT_EQ(f32_from_f16(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(std::bit_cast<std::uint32_t>(f32_from_f16(0xfe01)), 0xffc02000u);
}

TEST(HalfPrecision, EveryNumberIsSignTimesFractionTimesPowerOfTwo) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const int exponent = bits >> 10 & 31;
    const int fraction = bits & 1023;
    const double sign = bits >> 15 ? -1 : 1;
    const float found = f32_from_f16(static_cast<std::uint16_t>(bits));
    if (exponent == 31) {
      EXPECT_EQ(std::isinf(found), fraction == 0) << bits;
      EXPECT_EQ(std::isnan(found), fraction != 0) << bits;
    } else {
      const double expected = exponent == 0 ? sign * std::ldexp(fraction, -24)
                                            : sign * std::ldexp(1024 + fraction, exponent - 25);
      EXPECT_EQ(found, expected) << bits;
    }
  }
}

TEST(HalfPrecision, NarrowingUndoesWideningAndRoundsTiesToEven) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = f32_from_f16(static_cast<std::uint16_t>(bits));
    if (!std::isnan(value)) {
      EXPECT_EQ(f16_from_f32(value), bits);
    }
  }
  EXPECT_EQ(f16_from_f32(1 + 0x1p-11f), 0x3c00);
  EXPECT_EQ(f16_from_f32(1 + 3 * 0x1p-11f), 0x3c02);
  EXPECT_EQ(f16_from_f32(65519.0f), 0x7bff);
  EXPECT_EQ(f16_from_f32(65520.0f), 0x7c00);
  EXPECT_EQ(f16_from_f32(0x1p-25f), 0x0000);
}

TEST(BrainFloat, IsTheUpperHalfOfSinglePrecision) {
  EXPECT_EQ(f32_from_bf16(0x3f80), 1.0f);
  EXPECT_EQ(f32_from_bf16(0xc049), -3.140625f);
  EXPECT_EQ(f32_from_bf16(0x0001), std::bit_cast<float>(0x00010000u));
  EXPECT_EQ(bf16_from_f32(-3.140625f), 0xc049);
}

TEST(Dequantize, ReadsUnquantizedTypes) {
  EXPECT_EQ(dequantized(GgmlType::kF16, bytes_of({0x00, 0x3c, 0x00, 0xc0}), 2),
            (std::vector<float>{1.0f, -2.0f}));
  EXPECT_EQ(dequantized(GgmlType::kBF16, bytes_of({0x80, 0x3f, 0x49, 0xc0}), 2),
            (std::vector<float>{1.0f, -3.140625f}));
  EXPECT_EQ(dequantized(GgmlType::kF32, bytes_of({0, 0, 0x20, 0x41}), 1), (std::vector<float>{10.0f}));
}

TEST(Dequantize, Q4_1TakesLowNibblesFirstThenHighOnes) {
  // d = 0.5, m = -1; byte i holds code i low and code 15 - i high.
  std::vector<std::byte> block = bytes_of({0x00, 0x38, 0x00, 0xbc});
  for (int i = 0; i < 16; ++i)
    block.push_back(static_cast<std::byte>(i | (15 - i) << 4));
  const std::vector<float> values = dequantized(GgmlType::kQ4_1, block, 32);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[i], 0.5f * i - 1);
    EXPECT_EQ(values[16 + i], 0.5f * (15 - i) - 1);
  }
}

TEST(Dequantize, Q4_0IsCentredOnEight) {
  std::vector<std::byte> block = bytes_of({0x00, 0xc0});  // d = -2
  for (int i = 0; i < 16; ++i)
    block.push_back(static_cast<std::byte>(i | (15 - i) << 4));
  const std::vector<float> values = dequantized(GgmlType::kQ4_0, block, 32);
  for (int i = 0; i < 16; ++i) {
    EXPECT_EQ(values[i], -2.0f * (i - 8));
    EXPECT_EQ(values[16 + i], -2.0f * (7 - i));
  }
  EXPECT_FALSE(std::signbit(values[8]));
}

TEST(Dequantize, Q8_0HasSignedCodes) {
  std::vector<std::byte> block = bytes_of({0x00, 0x34});  // d = 0.25
  for (int i = 0; i < 32; ++i)
    block.push_back(static_cast<std::byte>(i == 0 ? -128 : i == 1 ? 127 : i - 16));
  const std::vector<float> values = dequantized(GgmlType::kQ8_0, block, 32);
  EXPECT_EQ(values[0], -32.0f);
  EXPECT_EQ(values[1], 31.75f);
  for (int i = 2; i < 32; ++i)
    EXPECT_EQ(values[i], 0.25f * (i - 16));
}

TEST(Repack, Q4_1PutsEightConsecutiveElementsInAWordLowestFirst) {
  std::vector<std::byte> block = bytes_of({0x00, 0x38, 0x00, 0xbc});
  for (int i = 0; i < 16; ++i)
    block.push_back(static_cast<std::byte>(i | (15 - i) << 4));
  std::array<std::uint32_t, 4> packed{};
  std::array<float, 1> scale{}, bias{};
  repack_rows(GgmlType::kQ4_1, block, 1, 32, packed, scale, bias);
  EXPECT_EQ(packed, (std::array<std::uint32_t, 4>{0x76543210u, 0xfedcba98u, 0x89abcdefu, 0x01234567u}));
  EXPECT_EQ(scale[0], 0.5f);
  EXPECT_EQ(bias[0], -1.0f);
}

TEST(Repack, Q8_0PutsFourUnsignedCodesInAWord) {
  std::vector<std::byte> block = bytes_of({0x00, 0x34, -128, -1, 0, 127});
  block.resize(kQ8_0Bytes);
  std::array<std::uint32_t, 8> packed{};
  std::array<float, 1> scale{}, bias{};
  repack_rows(GgmlType::kQ8_0, block, 1, 32, packed, scale, bias);
  EXPECT_EQ(packed[0], 0xff807f00u);
  EXPECT_EQ(packed[7], 0x80808080u);
  EXPECT_EQ(scale[0], 0.25f);
  EXPECT_EQ(bias[0], -32.0f);
}

class RepackOf : public testing::TestWithParam<GgmlType> {};

TEST_P(RepackOf, GivesTheDequantizedValuesBitForBit) {
  constexpr std::size_t kRows = 7, kColumns = 160, kCount = kRows * kColumns;
  const auto bits = static_cast<std::size_t>(affine_bits(GetParam()));
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const std::vector<std::byte> source = random_blocks(GetParam(), kCount, seed);
    std::vector<std::uint32_t> packed(kCount * bits / 32);
    std::vector<float> scales(kCount / 32), biases(kCount / 32);
    repack_rows(GetParam(), source, kRows, kColumns, packed, scales, biases);
    const std::vector<float> expected = dequantized(GetParam(), source, kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
      const float found = affine_value(packed, scales, biases, bits, i);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(expected[i]))
          << "element " << i << ": " << found << " against " << expected[i];
    }
  }
}

TEST_P(RepackOf, RefusesSpansOfAnotherSizeAsOurBug) {
  const std::vector<std::byte> source = random_blocks(GetParam(), 32, 1);
  std::vector<std::uint32_t> packed(static_cast<std::size_t>(affine_bits(GetParam())) + 1);
  std::vector<float> scales(1), biases(1);
  EXPECT_THROW(repack_rows(GetParam(), source, 1, 32, packed, scales, biases), Failure);
}

INSTANTIATE_TEST_SUITE_P(QuantizedTypes, RepackOf,
                         testing::Values(GgmlType::kQ4_0, GgmlType::kQ4_1, GgmlType::kQ8_0),
                         [](const auto& tested) { return std::string(type_info(tested.param).name); });

TEST(EncodeBlocks, StaysWithinHalfAStepOfTheValues) {
  std::vector<float> values(96);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::sin(static_cast<float>(i) * 1.7f) + 0.2f;
  const std::pair<GgmlType, float> kinds[] = {{GgmlType::kF32, 0.0f},    {GgmlType::kF16, 0.0005f},
                                              {GgmlType::kBF16, 0.004f}, {GgmlType::kQ8_0, 0.006f},
                                              {GgmlType::kQ4_1, 0.075f}, {GgmlType::kQ4_0, 0.17f}};
  for (const auto& [type, tolerance] : kinds) {
    const std::vector<float> back = dequantized(type, encode_blocks(type, values), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(back[i], values[i], tolerance) << type_info(type).name << " " << i;
  }
}

TEST(UnpermutedRows, UndoTheSplitOfRotaryHalvesIntoNeighbours) {
  EXPECT_EQ(unpermuted_rows(1, 6), (std::vector<std::uint32_t>{0, 2, 4, 1, 3, 5}));
  EXPECT_EQ(unpermuted_rows(2, 4), (std::vector<std::uint32_t>{0, 2, 1, 3, 4, 6, 5, 7}));
  // A converter lays row h*d + half*d/2 + i at h*d + 2i + half.
  constexpr std::uint32_t kHeads = 3, kHeadDim = 20;
  std::vector<std::uint32_t> file(kHeads * kHeadDim);
  for (std::uint32_t h = 0; h < kHeads; ++h) {
    for (std::uint32_t half = 0; half < 2; ++half) {
      for (std::uint32_t i = 0; i < kHeadDim / 2; ++i)
        file[h * kHeadDim + 2 * i + half] = h * kHeadDim + half * kHeadDim / 2 + i;
    }
  }
  const std::vector<std::uint32_t> stored = unpermuted_rows(kHeads, kHeadDim);
  for (std::uint32_t place = 0; place < stored.size(); ++place)
    EXPECT_EQ(file[stored[place]], place);
}

}  // namespace
}  // namespace weir::llm
