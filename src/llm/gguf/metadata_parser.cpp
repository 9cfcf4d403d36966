#include <bit>
#include <string>
#include <utility>

#include "llm/gguf/header_parser.h"

namespace weir::llm::internal {
namespace {

constexpr std::uint64_t kMaxKeyBytes = 65535;
constexpr std::uint64_t kAnyLength = UINT64_MAX;

bool read_bool(ByteCursor& cursor) {
  const std::uint64_t at = cursor.offset();
  const auto byte = cursor.number<std::uint8_t>("a bool");
  if (byte > 1) cursor.refuse(at, "a bool that is " + std::to_string(byte) + ", neither 0 nor 1");
  return byte == 1;
}

template <class T>
GgufValue read_numbers(ByteCursor& cursor) {
  std::vector<T> numbers(static_cast<std::size_t>(cursor.count("an array's length", sizeof(T))));
  cursor.bytes(numbers.data(), numbers.size() * sizeof(T), "an array");
  return numbers;
}

GgufValue read_bools(ByteCursor& cursor) {
  std::vector<bool> bools(static_cast<std::size_t>(cursor.count("an array's length", 1)));
  for (std::size_t i = 0; i < bools.size() && !cursor.failed(); ++i)
    bools[i] = read_bool(cursor);
  return bools;
}

GgufValue read_strings(ByteCursor& cursor) {
  std::vector<std::string> strings;
  const std::uint64_t count = cursor.count("an array's length", 8);
  for (std::uint64_t i = 0; i < count && !cursor.failed(); ++i)
    strings.push_back(cursor.string("a string", kAnyLength));
  return strings;
}

GgufValue read_array(ByteCursor& cursor) {
  const std::uint64_t at = cursor.offset();
  const auto type = cursor.number<std::uint32_t>("an array's element type");
  switch (static_cast<GgufValueType>(type)) {
    case GgufValueType::kU8:
      return read_numbers<std::uint8_t>(cursor);
    case GgufValueType::kI8:
      return read_numbers<std::int8_t>(cursor);
    case GgufValueType::kU16:
      return read_numbers<std::uint16_t>(cursor);
    case GgufValueType::kI16:
      return read_numbers<std::int16_t>(cursor);
    case GgufValueType::kU32:
      return read_numbers<std::uint32_t>(cursor);
    case GgufValueType::kI32:
      return read_numbers<std::int32_t>(cursor);
    case GgufValueType::kF32:
      return read_numbers<float>(cursor);
    case GgufValueType::kBool:
      return read_bools(cursor);
    case GgufValueType::kString:
      return read_strings(cursor);
    case GgufValueType::kU64:
      return read_numbers<std::uint64_t>(cursor);
    case GgufValueType::kI64:
      return read_numbers<std::int64_t>(cursor);
    case GgufValueType::kF64:
      return read_numbers<double>(cursor);
    case GgufValueType::kArray:
      cursor.refuse(at, "an array of arrays, which weir does not read");
      return {};
  }
  cursor.refuse(at, "array elements of an unknown type " + std::to_string(type));
  return {};
}

GgufValue read_value(ByteCursor& cursor) {
  const std::uint64_t at = cursor.offset();
  const auto type = cursor.number<std::uint32_t>("a value's type");
  switch (static_cast<GgufValueType>(type)) {
    case GgufValueType::kU8:
      return cursor.number<std::uint8_t>("a value");
    case GgufValueType::kI8:
      return cursor.number<std::int8_t>("a value");
    case GgufValueType::kU16:
      return cursor.number<std::uint16_t>("a value");
    case GgufValueType::kI16:
      return cursor.number<std::int16_t>("a value");
    case GgufValueType::kU32:
      return cursor.number<std::uint32_t>("a value");
    case GgufValueType::kI32:
      return cursor.number<std::int32_t>("a value");
    case GgufValueType::kF32:
      return cursor.number<float>("a value");
    case GgufValueType::kBool:
      return read_bool(cursor);
    case GgufValueType::kString:
      return cursor.string("a string", kAnyLength);
    case GgufValueType::kArray:
      return read_array(cursor);
    case GgufValueType::kU64:
      return cursor.number<std::uint64_t>("a value");
    case GgufValueType::kI64:
      return cursor.number<std::int64_t>("a value");
    case GgufValueType::kF64:
      return cursor.number<double>("a value");
  }
  cursor.refuse(at, "a value of an unknown type " + std::to_string(type));
  return {};
}

}  // namespace

GgufFile::Metadata read_metadata(ByteCursor& cursor, std::uint64_t count) {
  GgufFile::Metadata metadata;
  for (std::uint64_t i = 0; i < count && !cursor.failed(); ++i) {
    const std::uint64_t at = cursor.offset();
    std::string key = cursor.string("a key", kMaxKeyBytes);
    if (key.empty()) cursor.refuse(at, "an empty key");
    const std::string shown = shown_name(key);
    GgufValue value = read_value(cursor);
    if (!metadata.emplace(std::move(key), std::move(value)).second)
      cursor.refuse(at, "the key " + shown + " stands there twice");
  }
  return metadata;
}

Result<std::uint32_t> alignment_of(const GgufFile::Metadata& metadata, const std::string& where) {
  constexpr std::uint32_t kDefault = 32;
  constexpr std::uint32_t kLeast = 8;
  constexpr std::uint32_t kMost = 65536;
  const auto found = metadata.find("general.alignment");
  if (found == metadata.end()) return kDefault;
  const auto* value = std::get_if<std::uint32_t>(&found->second);
  if (value == nullptr)
    return fail(ErrorKind::kBadData, where,
                "general.alignment is of type " + std::string(type_name(found->second)) + ", not u32");
  if (!std::has_single_bit(*value) || *value < kLeast || *value > kMost)
    return fail(ErrorKind::kBadData, where,
                "general.alignment is " + std::to_string(*value) + ", not a power of two from 8 to 65536");
  return *value;
}

}  // namespace weir::llm::internal
