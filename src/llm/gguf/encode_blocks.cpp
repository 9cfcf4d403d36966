#include "llm/gguf/encode_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "llm/gguf/blocks.h"

namespace weir::llm {
namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kHalf = kBlockElements / 2;

void put_u16(Bytes& out, std::uint16_t bits) {
  out.push_back(static_cast<std::byte>(bits & 0xff));
  out.push_back(static_cast<std::byte>(bits >> 8));
}

/// Writes a scale and returns what a reader will see.
float put_f16(Bytes& out, float value) {
  const std::uint16_t bits = f16_from_f32(value);
  put_u16(out, bits);
  return f32_from_f16(bits);
}

int code_of(float value, float scale, int least, int most) {
  if (scale == 0) return std::clamp(0, least, most);
  return static_cast<int>(std::clamp(std::nearbyint(value / scale), float(least), float(most)));
}

void put_nibbles(Bytes& out, const int (&codes)[kBlockElements]) {
  for (std::size_t i = 0; i < kHalf; ++i)
    out.push_back(static_cast<std::byte>(codes[i] | codes[i + kHalf] << 4));
}

void encode_q4_1(Bytes& out, std::span<const float> block) {
  const auto [least, most] = std::minmax_element(block.begin(), block.end());
  const float d = put_f16(out, (*most - *least) / 15);
  const float m = put_f16(out, *least);
  int codes[kBlockElements];
  for (std::size_t i = 0; i < kBlockElements; ++i)
    codes[i] = code_of(block[i] - m, d, 0, 15);
  put_nibbles(out, codes);
}

void encode_q4_0(Bytes& out, std::span<const float> block) {
  const float farthest = *std::max_element(block.begin(), block.end(),
                                           [](float a, float b) { return std::abs(a) < std::abs(b); });
  const float d = put_f16(out, farthest / -8);
  int codes[kBlockElements];
  for (std::size_t i = 0; i < kBlockElements; ++i)
    codes[i] = code_of(block[i], d, -8, 7) + 8;
  put_nibbles(out, codes);
}

void encode_q8_0(Bytes& out, std::span<const float> block) {
  float largest = 0;
  for (const float value : block)
    largest = std::max(largest, std::abs(value));
  const float d = put_f16(out, largest / 127);
  for (const float value : block)
    out.push_back(static_cast<std::byte>(code_of(value, d, -127, 127)));
}

}  // namespace

std::uint16_t f16_from_f32(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00u);
  if (magnitude >= 65520.0f) return static_cast<std::uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x1p-14f)  // a multiple of 2^-24, or rounded to the first normal number
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1p24f)));
  const std::uint32_t rest = (bits & 0x7fffffffu) - 0x38000000u;
  const std::uint32_t rounded = rest + 0xfffu + (rest >> 13 & 1u);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

std::uint16_t bf16_from_f32(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

std::vector<std::byte> encode_blocks(GgmlType type, std::span<const float> values) {
  Bytes out;
  out.reserve(static_cast<std::size_t>(stored_bytes(type, values.size())));
  const std::size_t step = type_info(type).block_elements;
  for (std::size_t i = 0; i < values.size(); i += step) {
    const std::span<const float> block = values.subspan(i, step);
    switch (type) {
      case GgmlType::kF32: {
        const auto bits = std::bit_cast<std::uint32_t>(block[0]);
        put_u16(out, static_cast<std::uint16_t>(bits & 0xffff));
        put_u16(out, static_cast<std::uint16_t>(bits >> 16));
        break;
      }
      case GgmlType::kF16:
        put_u16(out, f16_from_f32(block[0]));
        break;
      case GgmlType::kBF16:
        put_u16(out, bf16_from_f32(block[0]));
        break;
      case GgmlType::kQ4_0:
        encode_q4_0(out, block);
        break;
      case GgmlType::kQ4_1:
        encode_q4_1(out, block);
        break;
      case GgmlType::kQ8_0:
        encode_q8_0(out, block);
        break;
    }
  }
  WEIR_CHECK_EQ(out.size(), stored_bytes(type, values.size()));
  return out;
}

}  // namespace weir::llm
