#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "llm/gguf/byte_cursor.h"
#include "llm/gguf/reader.h"

namespace weir::llm {
namespace {

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

/// The value as an integer of type T, when it is an integer in range.
template <class T>
std::optional<T> integer_in_range(const GgufValue& value) {
  return std::visit(
      [](const auto& v) -> std::optional<T> {
        using V = std::decay_t<decltype(v)>;
        if constexpr (kIsInteger<V>) {
          if (std::in_range<T>(v)) return static_cast<T>(v);
        }
        return std::nullopt;
      },
      value);
}

/// " 7" for an integer, "" for anything else.
std::string shown_number(const GgufValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        if constexpr (kIsInteger<std::decay_t<decltype(v)>>) return " " + std::to_string(v);
        return "";
      },
      value);
}

Error wrong_value(const GgufFile& file, std::string_view key, std::string_view wanted) {
  const GgufValue* value = file.find_value(key);
  std::string message = "the metadata key " + shown_name(key);
  if (value == nullptr)
    message += " is missing (wanted: " + std::string(wanted) + ")";
  else
    message += " is of type " + std::string(type_name(*value)) + shown_number(*value) + ", not " +
               std::string(wanted);
  return {ErrorKind::kBadData, file.path().string(), message};
}

}  // namespace

template <class T>
Result<const T*> GgufFile::value_of(std::string_view key, std::string_view wanted) const {
  const GgufValue* value = find_value(key);
  const T* typed = value == nullptr ? nullptr : std::get_if<T>(value);
  if (typed == nullptr) return tl::unexpected(wrong_value(*this, key, wanted));
  return typed;
}

template <class T>
Result<T> GgufFile::unsigned_integer(std::string_view key, std::string_view wanted) const {
  const GgufValue* value = find_value(key);
  const std::optional<T> integer = value == nullptr ? std::nullopt : integer_in_range<T>(*value);
  if (!integer) return tl::unexpected(wrong_value(*this, key, wanted));
  return *integer;
}

Result<std::uint32_t> GgufFile::u32(std::string_view key) const {
  return unsigned_integer<std::uint32_t>(key, "u32");
}

Result<std::uint64_t> GgufFile::u64(std::string_view key) const {
  return unsigned_integer<std::uint64_t>(key, "u64");
}

Result<float> GgufFile::f32(std::string_view key) const {
  const GgufValue* value = find_value(key);
  if (value != nullptr) {
    if (const auto* single = std::get_if<float>(value)) return *single;
    if (const auto* twice = std::get_if<double>(value)) return static_cast<float>(*twice);
  }
  return tl::unexpected(wrong_value(*this, key, "f32"));
}

Result<bool> GgufFile::boolean(std::string_view key) const {
  return value_of<bool>(key, "bool").map([](const bool* v) { return *v; });
}

Result<std::string_view> GgufFile::string(std::string_view key) const {
  return value_of<std::string>(key, "string").map([](const std::string* v) { return std::string_view(*v); });
}

Result<std::span<const std::string>> GgufFile::strings(std::string_view key) const {
  return value_of<std::vector<std::string>>(key, "array of string").map([](const auto* v) {
    return std::span<const std::string>(*v);
  });
}

Result<std::span<const std::int32_t>> GgufFile::i32s(std::string_view key) const {
  return value_of<std::vector<std::int32_t>>(key, "array of i32").map([](const auto* v) {
    return std::span<const std::int32_t>(*v);
  });
}

Result<std::span<const float>> GgufFile::f32s(std::string_view key) const {
  return value_of<std::vector<float>>(key, "array of f32").map([](const auto* v) {
    return std::span<const float>(*v);
  });
}

Result<std::uint32_t> GgufFile::u32_or(std::string_view key, std::uint32_t absent) const {
  return has(key) ? u32(key) : absent;
}

Result<float> GgufFile::f32_or(std::string_view key, float absent) const {
  return has(key) ? f32(key) : absent;
}

Result<bool> GgufFile::boolean_or(std::string_view key, bool absent) const {
  return has(key) ? boolean(key) : absent;
}

Result<std::string_view> GgufFile::string_or(std::string_view key, std::string_view absent) const {
  return has(key) ? string(key) : absent;
}

}  // namespace weir::llm
