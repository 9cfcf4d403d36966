#include "ledger/layers_json.h"

#include <limits>
#include <nlohmann/json.hpp>

namespace weir::ledger {
namespace {

struct BytesKey {
  const char* name;
  Bytes Layers::*member;
};

constexpr BytesKey kBytesKeys[] = {
    {"footprint", &Layers::footprint},     {"live", &Layers::live},
    {"retained", &Layers::retained},       {"untouched", &Layers::untouched},
    {"heap_idle", &Layers::heap_idle},     {"identified", &Layers::identified},
    {"unexplained", &Layers::unexplained}, {"file", &Layers::file},
    {"resident", &Layers::resident},       {"swap", &Layers::swap},
    {"overdraw", &Layers::overdraw},       {"weights_file", &Layers::weights_file},
};

tl::unexpected<Error> wrong(const std::string& key, const char* wanted, const nlohmann::json& got) {
  return fail(ErrorKind::kBadData, "layers", "'" + key + "' must be " + wanted + ", not " + got.type_name());
}

/// False where the value is no integer that fits.
bool read_integer(const nlohmann::json& json, std::int64_t& out) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() &&
      json.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return false;
  out = json.get<std::int64_t>();
  return true;
}

Result<void> read_tags(const nlohmann::json& json, Layers& layers) {
  if (!json.is_object()) return wrong("tags", "an object", json);
  for (const auto& [name, value] : json.items())
    if (!read_integer(value, layers.tags[name])) return wrong("tags." + name, "an integer of 64 bits", value);
  return {};
}

Result<void> read_parts(const nlohmann::json& json, Layers& layers) {
  if (!json.is_array()) return wrong("identified_parts", "an array", json);
  for (const nlohmann::json& entry : json) {
    if (!entry.is_object() || !entry.contains("name") || !entry.contains("bytes"))
      return wrong("identified_parts", "an array of {name, bytes}", entry);
    IdentifiedPart part;
    if (!entry["name"].is_string()) return wrong("identified_parts.name", "a string", entry["name"]);
    part.name = entry["name"].get<std::string>();
    if (!read_integer(entry["bytes"], part.bytes))
      return wrong("identified_parts.bytes", "an integer of 64 bits", entry["bytes"]);
    layers.identified_parts.push_back(std::move(part));
  }
  return {};
}

Result<void> read_bytes(const nlohmann::json& json, Layers& layers) {
  for (const BytesKey& key : kBytesKeys) {
    const auto found = json.find(key.name);
    if (found == json.end() || found->is_null()) continue;
    if (!read_integer(*found, (layers.*key.member).emplace()))
      return wrong(key.name, "an integer of 64 bits or null", *found);
  }
  return {};
}

}  // namespace

nlohmann::json to_json(const Layers& layers) {
  nlohmann::json json = nlohmann::json::object();
  for (const BytesKey& key : kBytesKeys) {
    const Bytes& bytes = layers.*key.member;
    json[key.name] = bytes ? nlohmann::json(*bytes) : nlohmann::json(nullptr);
  }
  json["age_seconds"] = layers.age_seconds;
  json["tags"] = layers.tags;
  json["identified_parts"] = nlohmann::json::array();
  for (const IdentifiedPart& part : layers.identified_parts)
    json["identified_parts"].push_back({{"name", part.name}, {"bytes", part.bytes}});
  return json;
}

Result<Layers> layers_from_json(const nlohmann::json& json) {
  if (!json.is_object()) return wrong("layers", "an object", json);
  Layers layers;
  if (Result<void> read = read_bytes(json, layers); !read) return tl::unexpected(read.error());
  if (const auto age = json.find("age_seconds"); age != json.end()) {
    if (!age->is_number()) return wrong("age_seconds", "a number", *age);
    layers.age_seconds = age->get<double>();
  }
  if (const auto tags = json.find("tags"); tags != json.end())
    if (Result<void> read = read_tags(*tags, layers); !read) return tl::unexpected(read.error());
  if (const auto parts = json.find("identified_parts"); parts != json.end())
    if (Result<void> read = read_parts(*parts, layers); !read) return tl::unexpected(read.error());
  return layers;
}

}  // namespace weir::ledger
