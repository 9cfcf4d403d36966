#include "llm/gguf/blocks.h"

#include <bit>
#include <cstring>

#include "base/check.h"

namespace weir::llm {
namespace {

constexpr std::size_t kHalf = kBlockElements / 2;

float load_f16(const std::byte* at) noexcept {
  std::uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return f32_from_f16(bits);
}

void dequantize_16_bit(const std::byte* source, std::span<float> out, float (*widen)(std::uint16_t)) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, source + 2 * i, sizeof bits);
    out[i] = widen(bits);
  }
}

/// Adding +0 turns the -0 of a negative scale into +0.
void dequantize_q4_0(const std::byte* source, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); i += kBlockElements, source += kQ4_0Bytes) {
    const float d = load_f16(source);
    for (std::size_t j = 0; j < kHalf; ++j) {
      const int byte = std::to_integer<int>(source[2 + j]);
      out[i + j] = d * static_cast<float>((byte & 15) - 8) + 0.0f;
      out[i + kHalf + j] = d * static_cast<float>((byte >> 4) - 8) + 0.0f;
    }
  }
}

void dequantize_q4_1(const std::byte* source, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); i += kBlockElements, source += kQ4_1Bytes) {
    const float d = load_f16(source);
    const float m = load_f16(source + 2);
    for (std::size_t j = 0; j < kHalf; ++j) {
      const int byte = std::to_integer<int>(source[4 + j]);
      out[i + j] = d * static_cast<float>(byte & 15) + m;
      out[i + kHalf + j] = d * static_cast<float>(byte >> 4) + m;
    }
  }
}

void dequantize_q8_0(const std::byte* source, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); i += kBlockElements, source += kQ8_0Bytes) {
    const float d = load_f16(source);
    for (std::size_t j = 0; j < kBlockElements; ++j)
      out[i + j] = d * static_cast<float>(static_cast<std::int8_t>(source[2 + j])) + 0.0f;
  }
}

/// Eight nibbles, one in the low half of each byte, side by side in 32 bits; the first stays lowest.
std::uint32_t gather_nibbles(std::uint64_t x) noexcept {
  x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
  x = (x | x >> 8) & 0x0000ffff0000ffffu;
  return static_cast<std::uint32_t>(x | x >> 16);
}

/// The 16 code bytes of a block as four words: low nibbles, then high nibbles.
void repack_nibbles(const std::byte* codes, std::uint32_t* words) noexcept {
  constexpr std::uint64_t kLow = 0x0f0f0f0f0f0f0f0fu;
  std::uint64_t pair[2];
  std::memcpy(pair, codes, sizeof pair);
  words[0] = gather_nibbles(pair[0] & kLow);
  words[1] = gather_nibbles(pair[1] & kLow);
  words[2] = gather_nibbles(pair[0] >> 4 & kLow);
  words[3] = gather_nibbles(pair[1] >> 4 & kLow);
}

/// Adding 128 to a signed byte flips its top bit.
void repack_bytes(const std::byte* codes, std::uint32_t* words) noexcept {
  std::memcpy(words, codes, kBlockElements);
  for (std::size_t i = 0; i < kBlockElements / 4; ++i)
    words[i] ^= 0x80808080u;
}

}  // namespace

float f32_from_f16(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t rest = static_cast<std::uint32_t>(bits & 0x7fffu) << 13;        // exponent and fraction
  if (rest >= 0x0f800000u) return std::bit_cast<float>(sign | (rest + 0x70000000u));  // infinity, NaN
  if (rest >= 0x00800000u) return std::bit_cast<float>(sign | (rest + 0x38000000u));
  const float magnitude = static_cast<float>(bits & 0x7fffu) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

float f32_from_bf16(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

void dequantize_rows(GgmlType type, std::span<const std::byte> source, std::span<float> out) {
  WEIR_CHECK_EQ(source.size(), stored_bytes(type, out.size()));
  switch (type) {
    case GgmlType::kF32:
      if (!out.empty()) std::memcpy(out.data(), source.data(), source.size());
      return;
    case GgmlType::kF16:
      return dequantize_16_bit(source.data(), out, f32_from_f16);
    case GgmlType::kBF16:
      return dequantize_16_bit(source.data(), out, f32_from_bf16);
    case GgmlType::kQ4_0:
      return dequantize_q4_0(source.data(), out);
    case GgmlType::kQ4_1:
      return dequantize_q4_1(source.data(), out);
    case GgmlType::kQ8_0:
      return dequantize_q8_0(source.data(), out);
  }
  WEIR_CHECK(type_info(type).supported);
}

int affine_bits(GgmlType type) noexcept {
  if (type == GgmlType::kQ4_0 || type == GgmlType::kQ4_1) return 4;
  return type == GgmlType::kQ8_0 ? 8 : 0;
}

void repack_rows(GgmlType type, std::span<const std::byte> source, std::size_t rows, std::size_t columns,
                 std::span<std::uint32_t> packed, std::span<float> scales, std::span<float> biases) {
  const auto bits = static_cast<std::size_t>(affine_bits(type));
  WEIR_CHECK(bits != 0);
  WEIR_CHECK_EQ(columns % kBlockElements, 0u);
  const std::size_t blocks = rows * (columns / kBlockElements);
  WEIR_CHECK_EQ(source.size(), stored_bytes(type, rows * columns));
  WEIR_CHECK_EQ(packed.size(), blocks * bits);
  WEIR_CHECK_EQ(scales.size(), blocks);
  WEIR_CHECK_EQ(biases.size(), blocks);
  const std::byte* at = source.data();
  std::uint32_t* words = packed.data();
  for (std::size_t i = 0; i < blocks; ++i, words += bits) {
    const float d = load_f16(at);
    scales[i] = d;
    if (type == GgmlType::kQ4_1) {
      biases[i] = load_f16(at + 2);
      repack_nibbles(at + 4, words);
      at += kQ4_1Bytes;
    } else if (type == GgmlType::kQ4_0) {
      biases[i] = -8.0f * d;
      repack_nibbles(at + 2, words);
      at += kQ4_0Bytes;
    } else {
      biases[i] = -128.0f * d;
      repack_bytes(at + 2, words);
      at += kQ8_0Bytes;
    }
  }
}

std::vector<std::uint32_t> unpermuted_rows(std::uint32_t heads, std::uint32_t head_dim) {
  WEIR_CHECK_EQ(head_dim % 2, 0u);
  std::vector<std::uint32_t> stored;
  stored.reserve(std::size_t{heads} * head_dim);
  for (std::uint32_t head = 0; head < heads; ++head) {
    for (std::uint32_t row = 0; row < head_dim; ++row) {
      const std::uint32_t half = head_dim / 2;
      const std::uint32_t within = row < half ? 2 * row : 2 * (row - half) + 1;
      stored.push_back(head * head_dim + within);
    }
  }
  return stored;
}

}  // namespace weir::llm
