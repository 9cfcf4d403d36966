#include "llm/gguf/gguf_builder.h"

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <type_traits>

#include "base/check.h"
#include "llm/gguf/encode_blocks.h"

namespace weir::llm {
namespace {

template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_arithmetic_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put(std::string& out, bool value) {
  out.push_back(value ? '\1' : '\0');
}

void put(std::string& out, const std::string& text) {
  put(out, static_cast<std::uint64_t>(text.size()));
  out += text;
}

template <class T>
constexpr GgufValueType kTypeOf = GgufValueType::kString;
template <>
constexpr GgufValueType kTypeOf<std::uint8_t> = GgufValueType::kU8;
template <>
constexpr GgufValueType kTypeOf<std::int8_t> = GgufValueType::kI8;
template <>
constexpr GgufValueType kTypeOf<std::uint16_t> = GgufValueType::kU16;
template <>
constexpr GgufValueType kTypeOf<std::int16_t> = GgufValueType::kI16;
template <>
constexpr GgufValueType kTypeOf<std::uint32_t> = GgufValueType::kU32;
template <>
constexpr GgufValueType kTypeOf<std::int32_t> = GgufValueType::kI32;
template <>
constexpr GgufValueType kTypeOf<float> = GgufValueType::kF32;
template <>
constexpr GgufValueType kTypeOf<bool> = GgufValueType::kBool;
template <>
constexpr GgufValueType kTypeOf<std::uint64_t> = GgufValueType::kU64;
template <>
constexpr GgufValueType kTypeOf<std::int64_t> = GgufValueType::kI64;
template <>
constexpr GgufValueType kTypeOf<double> = GgufValueType::kF64;

/// The value's type number and its bytes.
template <class T>
std::pair<GgufValueType, std::string> encode(const T& scalar) {
  std::string payload;
  put(payload, scalar);
  return {kTypeOf<T>, payload};
}

template <class T>
std::pair<GgufValueType, std::string> encode(const std::vector<T>& array) {
  std::string payload;
  put(payload, static_cast<std::uint32_t>(kTypeOf<T>));
  put(payload, static_cast<std::uint64_t>(array.size()));
  for (std::size_t i = 0; i < array.size(); ++i)
    put(payload, static_cast<const T&>(array[i]));
  return {GgufValueType::kArray, payload};
}

}  // namespace

GgufBuilder& GgufBuilder::add_value(std::string key, GgufValue value) {
  auto [type, payload] = std::visit([](const auto& v) { return encode(v); }, value);
  return add_raw_value(std::move(key), static_cast<std::uint32_t>(type), std::move(payload));
}

GgufBuilder& GgufBuilder::set_value(const std::string& key, GgufValue value) {
  remove_value(key);
  return add_value(key, std::move(value));
}

GgufBuilder& GgufBuilder::remove_value(std::string_view key) {
  std::erase_if(values_, [key](const Value& value) { return value.key == key; });
  return *this;
}

GgufBuilder& GgufBuilder::add_raw_value(std::string key, std::uint32_t type, std::string payload) {
  values_.push_back({std::move(key), type, std::move(payload)});
  return *this;
}

GgufBuilder& GgufBuilder::add_tensor(std::string name, std::vector<std::uint64_t> dims, GgmlType type,
                                     std::span<const float> values) {
  const std::vector<std::byte> data = encode_blocks(type, values);
  return add_raw_tensor(std::move(name), std::move(dims), static_cast<std::uint32_t>(type),
                        std::string(reinterpret_cast<const char*>(data.data()), data.size()));
}

GgufBuilder& GgufBuilder::add_raw_tensor(std::string name, std::vector<std::uint64_t> dims,
                                         std::uint32_t type, std::string data,
                                         std::optional<std::uint64_t> offset) {
  tensors_.push_back({std::move(name), std::move(dims), type, std::move(data), offset});
  return *this;
}

GgufBuilder& GgufBuilder::remove_tensor(std::string_view name) {
  std::erase_if(tensors_, [name](const Tensor& tensor) { return tensor.name == name; });
  return *this;
}

GgufBuilder& GgufBuilder::set_version(std::uint32_t version) {
  version_ = version;
  return *this;
}

GgufBuilder& GgufBuilder::set_alignment(std::uint32_t alignment) {
  alignment_ = alignment;
  return set_value("general.alignment", alignment);
}

GgufBuilder& GgufBuilder::set_tensor_count(std::uint64_t count) {
  tensor_count_ = count;
  return *this;
}

GgufBuilder& GgufBuilder::set_value_count(std::uint64_t count) {
  value_count_ = count;
  return *this;
}

std::string GgufBuilder::bytes() const {
  std::string out = "GGUF";
  put(out, version_);
  put(out, tensor_count_.value_or(tensors_.size()));
  put(out, value_count_.value_or(values_.size()));
  for (const Value& value : values_) {
    put(out, value.key);
    put(out, value.type);
    out += value.payload;
  }
  std::string data;
  for (const Tensor& tensor : tensors_) {
    if (alignment_ > 0) data.resize((data.size() + alignment_ - 1) / alignment_ * alignment_);
    put(out, tensor.name);
    put(out, static_cast<std::uint32_t>(tensor.dims.size()));
    for (const std::uint64_t dim : tensor.dims)
      put(out, dim);
    put(out, tensor.type);
    put(out, tensor.offset.value_or(data.size()));
    data += tensor.data;
  }
  if (alignment_ > 0) out.resize((out.size() + alignment_ - 1) / alignment_ * alignment_);
  return out + data;
}

TemporaryFile::TemporaryFile(std::string_view content) {
  std::string name = (std::filesystem::temp_directory_path() / "weir-gguf-XXXXXX").string();
  const int fd = ::mkstemp(name.data());
  WEIR_CHECK(fd >= 0);
  ::close(fd);
  path_ = name;
  std::ofstream out(path_, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  WEIR_CHECK(out.good());
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove(path_, ignored);
}

}  // namespace weir::llm
