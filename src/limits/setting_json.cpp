#include "limits/setting_json.h"

#include <nlohmann/json.hpp>

namespace weir::limits {
namespace {

template <class T>
nlohmann::json or_null(const std::optional<T>& value) {
  return value ? nlohmann::json(*value) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json to_json(const Setting& setting) {
  return {
      {"mode", mode_name(setting.mode)},
      {"bytes", or_null(setting.bytes)},
      {"effective_bytes", or_null(setting.effective_bytes)},
      {"denominator",
       setting.denominator.empty() ? nlohmann::json(nullptr) : nlohmann::json(setting.denominator)},
      {"denominator_bytes", or_null(setting.denominator_bytes)},
      {"source", setting.source},
      {"text", setting.text},
      {"rules", setting.rules},
      {"note", setting.note.empty() ? setting.unset_text : setting.note},
  };
}

nlohmann::json to_json(const Resolved& resolved) {
  nlohmann::json warnings = nlohmann::json::array();
  for (const Warning& warning : resolved.warnings) {
    warnings.push_back({{"name", warning.name}, {"what", warning.what}});
  }
  return {{"cache_limit", to_json(resolved.cache_limit)},
          {"memory_limit", to_json(resolved.memory_limit)},
          {"warnings", warnings}};
}

}  // namespace weir::limits
