#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "lab/allocator.h"

namespace weir::lab {

/// Parses one JSON object of at most 32 levels; anything else is kBadData with `where`. Never throws.
[[nodiscard]] Result<nlohmann::json> parse_object(std::string_view text, const std::string& where);

/// Strict reading of one JSON object: the first missing, mistyped or out-of-range key is kept as the error,
/// and every getter then returns an empty value. Ask `error()` once at the end. Included by .cpp files only.
class JsonReader {
 public:
  static constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

  JsonReader(const nlohmann::json& object, std::string where) : object_(object), where_(std::move(where)) {}

  [[nodiscard]] std::string text(const char* key);
  [[nodiscard]] std::int64_t integer(const char* key, std::int64_t low = 0, std::int64_t high = kLargest);
  [[nodiscard]] int small(const char* key) { return static_cast<int>(integer(key, 0, 1'000'000)); }
  [[nodiscard]] std::optional<std::int64_t> integer_or_null(const char* key, std::int64_t low = 0);
  /// Finite.
  [[nodiscard]] double number(const char* key);
  [[nodiscard]] std::optional<double> number_or_null(const char* key);
  [[nodiscard]] bool boolean(const char* key);
  [[nodiscard]] std::optional<bool> boolean_or_null(const char* key);
  [[nodiscard]] std::vector<int> integers(const char* key);
  [[nodiscard]] std::vector<std::string> texts(const char* key);
  /// An object, or an empty one with an error.
  [[nodiscard]] const nlohmann::json& object(const char* key);
  /// An array, or an empty one with an error.
  [[nodiscard]] const nlohmann::json& array(const char* key);
  [[nodiscard]] bool has(const char* key) const { return object_.is_object() && object_.contains(key); }

  /// Keeps an error of the caller's own, such as an unknown word under `key`.
  void refuse(const char* key, const std::string& what);
  /// Takes over the error of a reader of a part.
  void adopt(const JsonReader& part);
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }

 private:
  [[nodiscard]] const nlohmann::json* find(const char* key);

  const nlohmann::json& object_;
  std::string where_;
  std::optional<Error> error_;
};

/// The allocator named under "allocator"; MLX's own where the key is absent, as in what was written before
/// there were others.
[[nodiscard]] Allocator read_allocator(JsonReader& reader);

}  // namespace weir::lab
