#include "llm/kernels/affine.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "govern/blas_kernel.h"

// Each loop is written once, as an inlined body, and compiled for three instruction sets; the choice is made
// at run time, because the tool is built on another machine than it runs on.
#if defined(__x86_64__)
#define WEIR_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")))
#define WEIR_TARGET_AVX2 __attribute__((target("avx2,fma")))
#else
#define WEIR_TARGET_AVX512
#define WEIR_TARGET_AVX2
#endif
#define WEIR_INLINE __attribute__((always_inline)) inline

namespace weir::llm {

namespace {

constexpr std::size_t kGroup = 32;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kParts = kGroup / kLanes;

enum class Level { kPortable, kAvx2, kAvx512 };

Level detected_level() {
  const govern::CpuFeatures features = govern::cpu_features();
  if (!features.avx2_fma) return Level::kPortable;
  return features.avx512 ? Level::kAvx512 : Level::kAvx2;
}

Level level() {
  static const Level detected = detected_level();
  return detected;
}

// Vectors of eight by the compilers' extension: lowered to whatever the enclosing function's target offers.
using Floats = float __attribute__((vector_size(32)));
using Words = std::uint32_t __attribute__((vector_size(32)));
using Integers = std::int32_t __attribute__((vector_size(32)));
using Bytes = std::uint8_t __attribute__((vector_size(8)));

template <class Vector>
WEIR_INLINE Vector load(const void* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// Codes part * 8 … part * 8 + 7 of a group.
template <int kBits>
WEIR_INLINE Floats codes_of(const std::uint32_t* group, std::size_t part) {
  if constexpr (kBits == 4) {
    constexpr Words kShifts = {0, 4, 8, 12, 16, 20, 24, 28};
    const Words codes = ((Words{} + group[part]) >> kShifts) & 15U;
    return __builtin_convertvector(reinterpret_cast<const Integers&>(codes), Floats);
  } else {
    return __builtin_convertvector(__builtin_convertvector(load<Bytes>(group + part * 2), Integers), Floats);
  }
}

template <int kBits>
WEIR_INLINE void dequantize_body(const AffineView& m, float* out) {
  const std::size_t groups = m.rows * (m.columns / kGroup);
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t part = 0; part < kParts; ++part) {
      const Floats values =
          codes_of<kBits>(m.codes + group * kBits, part) * m.scales[group] + m.biases[group];
      std::memcpy(out + group * kGroup + part * kLanes, &values, sizeof values);
    }
  }
}

template <int kBits>
WEIR_INLINE float row_dot(const std::uint32_t* codes, const float* scales, const float* x,
                          std::size_t groups) {
  Floats even{}, odd{};  // two chains, so that one addition does not wait for the last
  for (std::size_t group = 0; group < groups; ++group) {
    const float* const in = x + group * kGroup;
    Floats sum = codes_of<kBits>(codes, 0) * load<Floats>(in);
    Floats other = codes_of<kBits>(codes, 1) * load<Floats>(in + kLanes);
    sum += codes_of<kBits>(codes, 2) * load<Floats>(in + 2 * kLanes);
    other += codes_of<kBits>(codes, 3) * load<Floats>(in + 3 * kLanes);
    (group % 2 == 0 ? even : odd) += (sum + other) * scales[group];
    codes += kBits;
  }
  const Floats total = even + odd;
  return ((total[0] + total[4]) + (total[1] + total[5])) + ((total[2] + total[6]) + (total[3] + total[7]));
}

WEIR_INLINE float bias_dot(const float* biases, const float* group_sums, std::size_t groups) {
  Floats total{};
  std::size_t group = 0;
  for (; group + kLanes <= groups; group += kLanes)
    total += load<Floats>(biases + group) * load<Floats>(group_sums + group);
  float sum =
      ((total[0] + total[4]) + (total[1] + total[5])) + ((total[2] + total[6]) + (total[3] + total[7]));
  for (; group < groups; ++group)
    sum += biases[group] * group_sums[group];
  return sum;
}

template <int kBits>
WEIR_INLINE void multiply_body(const AffineView& m, const float* x, const float* group_sums, float* out) {
  const std::size_t groups = m.columns / kGroup;
  for (std::size_t row = 0; row < m.rows; ++row) {
    out[row] = row_dot<kBits>(m.codes + row * groups * kBits, m.scales + row * groups, x, groups) +
               bias_dot(m.biases + row * groups, group_sums, groups);
  }
}

/// exp(x), branch-free so that it vectorises: infinite from 88.4 on, and clamped below where it is a normal
/// number.
WEIR_INLINE float exponential(float x) {
  x = std::min(std::max(x, -87.0F), 89.0F);
  const float shifted = x * 1.44269504F + 12582912.0F;  // 1.5 * 2^23: rounds to the nearest integer
  const float n = shifted - 12582912.0F;
  const float r = (x - n * 0.693359375F) - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const std::int32_t exponent = (static_cast<std::int32_t>(n) + 127) << 23;
  float power = 0;
  std::memcpy(&power, &exponent, sizeof power);
  return p * power;
}

WEIR_INLINE void swiglu_body(const float* gate, const float* up, std::size_t count, float* out) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = gate[i] / (1.0F + exponential(-gate[i])) * up[i];
}

template <int kBits>
WEIR_TARGET_AVX512 void dequantize_avx512(const AffineView& m, float* out) {
  dequantize_body<kBits>(m, out);
}
template <int kBits>
WEIR_TARGET_AVX2 void dequantize_avx2(const AffineView& m, float* out) {
  dequantize_body<kBits>(m, out);
}
template <int kBits>
WEIR_TARGET_AVX512 void multiply_avx512(const AffineView& m, const float* x, const float* sums, float* out) {
  multiply_body<kBits>(m, x, sums, out);
}
template <int kBits>
WEIR_TARGET_AVX2 void multiply_avx2(const AffineView& m, const float* x, const float* sums, float* out) {
  multiply_body<kBits>(m, x, sums, out);
}
WEIR_TARGET_AVX512 void swiglu_avx512(const float* gate, const float* up, std::size_t count, float* out) {
  swiglu_body(gate, up, count, out);
}
WEIR_TARGET_AVX2 void swiglu_avx2(const float* gate, const float* up, std::size_t count, float* out) {
  swiglu_body(gate, up, count, out);
}

template <int kBits>
void dequantize(const AffineView& m, float* out) {
  if (level() == Level::kAvx512) return dequantize_avx512<kBits>(m, out);
  if (level() == Level::kAvx2) return dequantize_avx2<kBits>(m, out);
  dequantize_body<kBits>(m, out);
}

template <int kBits>
void multiply(const AffineView& m, const float* x, const float* sums, float* out) {
  if (level() == Level::kAvx512) return multiply_avx512<kBits>(m, x, sums, out);
  if (level() == Level::kAvx2) return multiply_avx2<kBits>(m, x, sums, out);
  multiply_body<kBits>(m, x, sums, out);
}

}  // namespace

void dequantize_affine(const AffineView& matrix, float* out) {
  WEIR_CHECK(matrix.bits == 4 || matrix.bits == 8);
  matrix.bits == 4 ? dequantize<4>(matrix, out) : dequantize<8>(matrix, out);
}

void multiply_affine_row(const AffineView& matrix, const float* x, float* group_sums, float* out) {
  WEIR_CHECK(matrix.bits == 4 || matrix.bits == 8);
  for (std::size_t group = 0; group < matrix.columns / kGroup; ++group) {
    float sum = 0;
    for (std::size_t j = 0; j < kGroup; ++j)
      sum += x[group * kGroup + j];
    group_sums[group] = sum;
  }
  matrix.bits == 4 ? multiply<4>(matrix, x, group_sums, out) : multiply<8>(matrix, x, group_sums, out);
}

void swiglu(const float* gate, const float* up, std::size_t count, float* out) {
  if (level() == Level::kAvx512) return swiglu_avx512(gate, up, count, out);
  if (level() == Level::kAvx2) return swiglu_avx2(gate, up, count, out);
  swiglu_body(gate, up, count, out);
}

}  // namespace weir::llm
