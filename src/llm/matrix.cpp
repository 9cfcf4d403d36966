#include "llm/matrix.h"

#include <cstring>
#include <span>

#include <mlx/ops.h>

#include "base/check.h"
#include "llm/gguf/blocks.h"
#include "llm/kernels/primitives.h"

namespace weir::llm {

namespace mx = mlx::core;

namespace {

constexpr int kGroup = 32;  // elements that share a scale and a bias

mx::array uninitialized(mx::Shape shape, mx::Dtype dtype) {
  std::size_t bytes = mx::size_of(dtype);
  for (const auto extent : shape)
    bytes *= static_cast<std::size_t>(extent);
  return mx::array(mx::allocator::malloc(bytes), std::move(shape), dtype);
}

mx::Dtype dense_dtype(GgmlType type) {
  if (type == GgmlType::kF16) return mx::float16;
  if (type == GgmlType::kBF16) return mx::bfloat16;
  return mx::float32;
}

template <class T>
std::span<T> rows_of(mx::array& array, int first, int count) {
  const auto row = static_cast<std::size_t>(array.shape(1));
  return {array.data<T>() + row * static_cast<std::size_t>(first), row * static_cast<std::size_t>(count)};
}

}  // namespace

Matrix::Matrix(std::vector<Part> parts, int inputs) : inputs_(inputs), codes_(0.0F) {
  WEIR_CHECK(!parts.empty());
  const GgmlType type = parts.front().type;
  int outputs = 0;
  for (const Part& part : parts) {
    WEIR_CHECK(part.type == type);
    part_ends_.push_back(outputs += part.rows);
  }
  bits_ = affine_bits(type);
  if (bits_ == 0) {
    codes_ = uninitialized({outputs, inputs}, dense_dtype(type));
  } else {
    codes_ = uninitialized({outputs, inputs * bits_ / 32}, mx::uint32);
    scales_ = uninitialized({outputs, inputs / kGroup}, mx::float32);
    biases_ = uninitialized({outputs, inputs / kGroup}, mx::float32);
  }
  int first = 0;
  for (const Part& part : parts) {
    if (bits_ == 0) {
      auto* to = codes_.data<std::byte>() + codes_.itemsize() * static_cast<std::size_t>(first) * inputs_;
      std::memcpy(to, part.stored.data(), part.stored.size());
    } else {
      repack_rows(type, part.stored, static_cast<std::size_t>(part.rows), static_cast<std::size_t>(inputs),
                  rows_of<std::uint32_t>(codes_, first, part.rows),
                  rows_of<float>(*scales_, first, part.rows), rows_of<float>(*biases_, first, part.rows));
    }
    first += part.rows;
  }
  std::size_t held = codes_.buffer_size();
  if (scales_) held += scales_->buffer_size() + biases_->buffer_size();
  held_bytes_ = static_cast<std::int64_t>(held);
}

mx::array Matrix::dense() const {
  if (bits_ == 0) return mx::astype(codes_, mx::float32);
  return dequantized(codes_, *scales_, *biases_, bits_);
}

std::vector<mx::array> Matrix::split(const mx::array& product) const {
  if (part_ends_.size() == 1) return {product};
  std::vector<mx::array> parts;
  int begin = 0;
  for (const int end : part_ends_) {
    parts.push_back(mx::slice(product, {0, begin}, {product.shape(0), end}));
    begin = end;
  }
  return parts;
}

std::vector<mx::array> Matrix::multiply(const mx::array& x) const {
  WEIR_CHECK_EQ(x.shape(1), inputs_);
  if (x.shape(0) == 1 && bits_ != 0) return split(row_product(x, codes_, *scales_, *biases_, bits_));
  const mx::array whole = dense();
  std::vector<mx::array> products;
  int begin = 0;
  for (const int end : part_ends_) {  // rows of the scratch matrix are contiguous: each product is, too
    products.push_back(mx::matmul(x, mx::transpose(mx::slice(whole, {begin, 0}, {end, inputs_}))));
    begin = end;
  }
  return products;
}

mx::array Matrix::rows(const mx::array& indices) const {
  const mx::array codes = mx::take(codes_, indices, 0);
  if (bits_ == 0) return mx::astype(codes, mx::float32);
  return dequantized(codes, mx::take(*scales_, indices, 0), mx::take(*biases_, indices, 0), bits_);
}

}  // namespace weir::llm
