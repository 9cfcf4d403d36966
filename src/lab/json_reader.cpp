#include "lab/json_reader.h"

#include <cmath>

namespace weir::lab {

namespace {

constexpr int kDeepest = 32;

/// The library's own functions recurse, so depth is bounded before it sees the text.
bool too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if ((c == '[' || c == '{') && ++depth > kDeepest) return true;
    if (c == ']' || c == '}') --depth;
  }
  return false;
}

const nlohmann::json& empty(nlohmann::json::value_t kind) {
  static const nlohmann::json object = nlohmann::json::object();
  static const nlohmann::json array = nlohmann::json::array();
  return kind == nlohmann::json::value_t::object ? object : array;
}

}  // namespace

Result<nlohmann::json> parse_object(std::string_view text, const std::string& where) {
  if (too_deep(text)) return fail(ErrorKind::kBadData, where, "JSON is nested deeper than 32 levels");
  auto value = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded() || !value.is_object())
    return fail(ErrorKind::kBadData, where, "not a JSON object: " + std::string(text.substr(0, 80)));
  return value;
}

void JsonReader::refuse(const char* key, const std::string& what) {
  if (!error_) error_ = Error{ErrorKind::kBadData, where_, std::string("key \"") + key + "\" " + what};
}

void JsonReader::adopt(const JsonReader& part) {
  if (!error_) error_ = part.error_;
}

const nlohmann::json* JsonReader::find(const char* key) {
  if (!object_.is_object()) {
    refuse(key, "is missing: its holder is no object");
    return nullptr;
  }
  const auto it = object_.find(key);
  if (it == object_.end()) {
    refuse(key, "is missing");
    return nullptr;
  }
  return &*it;
}

std::string JsonReader::text(const char* key) {
  const auto* value = find(key);
  if (value == nullptr) return "";
  if (const auto* text = value->get_ptr<const std::string*>()) return *text;
  refuse(key, "must be a string");
  return "";
}

std::int64_t JsonReader::integer(const char* key, std::int64_t low, std::int64_t high) {
  const auto* value = find(key);
  if (value == nullptr) return low;
  if (!value->is_number_integer()) {
    refuse(key, "must be an integer");
    return low;
  }
  const bool overflow =
      value->is_number_unsigned() && value->get<std::uint64_t>() > static_cast<std::uint64_t>(kLargest);
  const auto number = overflow ? 0 : value->get<std::int64_t>();
  if (overflow || number < low || number > high) {
    refuse(key, "must lie in " + std::to_string(low) + " … " + std::to_string(high) + ": " + value->dump());
    return low;
  }
  return number;
}

std::optional<std::int64_t> JsonReader::integer_or_null(const char* key, std::int64_t low) {
  const auto* value = find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return integer(key, low);
}

double JsonReader::number(const char* key) {
  const auto* value = find(key);
  if (value == nullptr) return 0;
  if (value->is_number() && std::isfinite(value->get<double>())) return value->get<double>();
  refuse(key, "must be a finite number");
  return 0;
}

std::optional<double> JsonReader::number_or_null(const char* key) {
  const auto* value = find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return number(key);
}

bool JsonReader::boolean(const char* key) {
  const auto* value = find(key);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  refuse(key, "must be true or false");
  return false;
}

std::optional<bool> JsonReader::boolean_or_null(const char* key) {
  const auto* value = find(key);
  if (value == nullptr || value->is_null()) return std::nullopt;
  return boolean(key);
}

std::vector<int> JsonReader::integers(const char* key) {
  std::vector<int> out;
  for (const auto& item : array(key)) {
    if (!item.is_number_integer() || item < 0 || item > 1'000'000) {
      refuse(key, "must hold integers from 0 to 1,000,000");
      return {};
    }
    out.push_back(item.get<int>());
  }
  return out;
}

std::vector<std::string> JsonReader::texts(const char* key) {
  std::vector<std::string> out;
  for (const auto& item : array(key)) {
    if (!item.is_string()) {
      refuse(key, "must hold strings");
      return {};
    }
    out.push_back(item.get<std::string>());
  }
  return out;
}

const nlohmann::json& JsonReader::object(const char* key) {
  const auto* value = find(key);
  if (value != nullptr && value->is_object()) return *value;
  refuse(key, "must be an object");
  return empty(nlohmann::json::value_t::object);
}

const nlohmann::json& JsonReader::array(const char* key) {
  const auto* value = find(key);
  if (value != nullptr && value->is_array()) return *value;
  refuse(key, "must be an array");
  return empty(nlohmann::json::value_t::array);
}

Allocator read_allocator(JsonReader& reader) {
  if (!reader.has("allocator")) return Allocator::kMlx;
  const auto allocator = allocator_from_name(reader.text("allocator"));
  if (!allocator) reader.refuse("allocator", "must be mlx, mlx-policy or weir");
  return allocator.value_or(Allocator::kMlx);
}

}  // namespace weir::lab
