#include "price/curve_json.h"

#include <nlohmann/json.hpp>

namespace weir::price {

namespace {

using nlohmann::json;

template <class T>
json nullable(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

template <class T>
std::optional<T> optional_at(const json& object, const char* key) {
  const json& value = object.at(key);
  if (value.is_null()) return std::nullopt;
  return value.get<T>();
}

void read_ratio(const json& arm, const char* metric, std::optional<double>& ratio,
                std::optional<double>& lower) {
  const json& change = arm.at("change");
  if (!change.contains(metric)) return;
  ratio = change.at(metric).at("ratio").get<double>();
  lower = optional_at<double>(change.at(metric), "lower");
}

void read_arm(const json& arm, CurveEntry& entry) {
  entry.is_baseline = arm.at("is_baseline").get<bool>();
  entry.reason = arm.at("reason").get<std::string>();
  entry.footprint_peak_bytes = optional_at<std::int64_t>(arm.at("measured"), "footprint_peak_bytes");
  if (!arm.at("saved_bytes").is_null()) {
    entry.saved_bytes = arm.at("saved_bytes").at("value").get<std::int64_t>();
    entry.saved_lower_bytes = optional_at<std::int64_t>(arm.at("saved_bytes"), "lower");
  }
  read_ratio(arm, lab::kDecode, entry.decode_ratio, entry.decode_lower);
  read_ratio(arm, lab::kPrefill, entry.prefill_ratio, entry.prefill_lower);
  const auto allocator = lab::allocator_from_name(arm.value("allocator", "mlx"));
  if (!allocator) throw json::other_error::create(501, "allocator is none that is known", &arm);
  entry.allocator = *allocator;
  const auto kind = lab::kind_from_name(arm.at("cache_limit_mode").get<std::string>());
  if (!kind) throw json::other_error::create(501, "cache_limit_mode is none that is known", &arm);
  entry.cache_limit = {*kind, optional_at<std::int64_t>(arm, "cache_limit_asked_bytes").value_or(0)};
}

}  // namespace

Result<CurveEntry> entry_from(const store::CurvePoint& point) {
  CurveEntry entry;
  try {
    read_arm(json::parse(point.json), entry);
  } catch (const json::exception& error) {
    return fail(ErrorKind::kBadData, "store",
                std::string("a curve point cannot be read; price again with --new: ") + error.what());
  }
  entry.cell = point.cell;
  entry.arm = point.arm;
  entry.verdict = entry.is_baseline ? "BASELINE" : point.verdict;
  entry.measured_at = point.measured_at;
  entry.seal = point.seal;
  return entry;
}

std::string curve_json(std::span<const CurveEntry> curve, std::int64_t now) {
  json all = json::array();
  for (const CurveEntry& entry : curve) {
    store::CurvePoint point;
    point.measured_at = entry.measured_at;
    json object = {{"footprint_peak_bytes", nullable(entry.footprint_peak_bytes)},
                   {"saved_bytes", nullable(entry.saved_bytes)},
                   {"saved_lower_bytes", nullable(entry.saved_lower_bytes)},
                   {"decode_ratio", nullable(entry.decode_ratio)},
                   {"decode_lower", nullable(entry.decode_lower)},
                   {"prefill_ratio", nullable(entry.prefill_ratio)},
                   {"prefill_lower", nullable(entry.prefill_lower)}};
    object["cell"] = entry.cell;
    object["reason"] = entry.reason;
    object["arm"] = entry.arm;
    object["cache_limit_bytes"] =
        nullable(lab::effective_bytes(lab::Arm{entry.arm, entry.cache_limit, entry.allocator}));
    object["allocator"] = lab::allocator_name(entry.allocator);
    object["verdict"] = entry.verdict;
    object["measured_at"] = entry.measured_at;
    object["age_seconds"] = now - entry.measured_at;
    object["fresh"] = store::is_fresh(point, now);
    object["seal"] = entry.seal;
    all.push_back(std::move(object));
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace weir::price
