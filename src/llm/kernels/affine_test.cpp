#include "llm/kernels/affine.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace weir::llm {
namespace {

struct RandomMatrix {
  RandomMatrix(std::size_t rows, std::size_t columns, int bits) {
    std::mt19937 random(static_cast<unsigned>(rows * 31 + columns));
    std::uniform_real_distribution<float> real(-0.1F, 0.1F);
    codes.resize(rows * columns * static_cast<std::size_t>(bits) / 32);
    scales.resize(rows * columns / 32);
    biases.resize(scales.size());
    for (auto& word : codes)
      word = static_cast<std::uint32_t>(random());
    for (auto& scale : scales)
      scale = real(random);
    for (auto& bias : biases)
      bias = real(random);
    view = {codes.data(), scales.data(), biases.data(), rows, columns, bits};
  }
  /// The definition: one element at a time.
  [[nodiscard]] float at(std::size_t row, std::size_t column) const {
    const auto bits = static_cast<std::size_t>(view.bits);
    const std::size_t element = row * view.columns + column;
    const std::size_t per_word = 32 / bits;
    const std::uint32_t code = codes[element / per_word] >> (element % per_word * bits) & ((1U << bits) - 1);
    return scales[element / 32] * static_cast<float>(code) + biases[element / 32];
  }

  std::vector<std::uint32_t> codes;
  std::vector<float> scales, biases;
  AffineView view;
};

class Affine : public testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  RandomMatrix matrix() const {
    const auto [rows, columns, bits] = GetParam();
    return {static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), bits};
  }
};

TEST_P(Affine, DequantizesByTheDefinition) {
  const RandomMatrix m = matrix();
  std::vector<float> out(m.view.rows * m.view.columns);
  dequantize_affine(m.view, out.data());
  for (std::size_t row = 0; row < m.view.rows; ++row)
    for (std::size_t column = 0; column < m.view.columns; ++column)
      ASSERT_NEAR(out[row * m.view.columns + column], m.at(row, column), 4e-6) << row << ' ' << column;
}

TEST_P(Affine, MultipliesARow) {
  const RandomMatrix m = matrix();
  std::vector<float> x(m.view.columns), sums(m.view.columns / 32), out(m.view.rows);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(static_cast<float>(i));
  multiply_affine_row(m.view, x.data(), sums.data(), out.data());
  for (std::size_t row = 0; row < m.view.rows; ++row) {
    double expected = 0, magnitude = 0;
    for (std::size_t column = 0; column < m.view.columns; ++column) {
      const double term = static_cast<double>(m.at(row, column)) * static_cast<double>(x[column]);
      expected += term;
      magnitude += std::fabs(term);
    }
    ASSERT_NEAR(out[row], expected, 2e-6 * magnitude + 1e-6) << row;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Affine,
                         testing::Combine(testing::Values(1, 3, 17), testing::Values(32, 96, 576),
                                          testing::Values(4, 8)));

TEST(SwiGlu, IsSiluTimesUpAndSaturates) {
  std::vector<float> gate, up;
  for (int i = -2000; i <= 2000; ++i)
    gate.push_back(static_cast<float>(i) * 0.0503F);
  for (const float extreme : {-1e30F, -200.0F, 200.0F, 1e30F})
    gate.push_back(extreme);
  up.assign(gate.size(), 1.5F);
  std::vector<float> out(gate.size());
  swiglu(gate.data(), up.data(), gate.size(), out.data());
  for (std::size_t i = 0; i < gate.size(); ++i) {
    const double x = gate[i];
    const double expected = x / (1 + std::exp(-x)) * 1.5;
    ASSERT_NEAR(out[i], expected, std::fabs(expected) * 1e-6 + 1e-30) << x;
  }
}

}  // namespace
}  // namespace weir::llm
