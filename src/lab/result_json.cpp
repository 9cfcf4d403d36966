#include "lab/result_json.h"

#include "lab/json_reader.h"

namespace weir::lab {

namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json encode(const Ratio& r) {
  return {{"ratio", r.ratio},
          {"lower", or_null(r.lower)},
          {"upper", or_null(r.upper)},
          {"n", r.n},
          {"mde", or_null(r.mde)},
          {"p_not_worse", or_null(r.p_not_worse)},
          {"p_worse", or_null(r.p_worse)}};
}

json encode(const Saved& s) {
  return {{"value", s.value}, {"lower", or_null(s.lower)},     {"upper", or_null(s.upper)},
          {"n", s.n},         {"p_saved", or_null(s.p_saved)}, {"p_not_saved", or_null(s.p_not_saved)}};
}

json encode(const Measured& m) {
  return {{"footprint_peak_bytes", or_null(m.footprint_peak_bytes)},
          {"footprint_peak_low_bytes", or_null(m.footprint_peak_low_bytes)},
          {"live_peak_bytes", or_null(m.live_peak_bytes)},
          {"retained_peak_bytes", or_null(m.retained_peak_bytes)},
          {"page_faults", or_null(m.page_faults)},
          {kPrefill, or_null(m.prefill_tokens_per_second)},
          {kDecode, or_null(m.decode_tokens_per_second)}};
}

json encode(const ArmResult& arm) {
  json change = json::object();
  for (const auto& [metric, ratio] : arm.change)
    change[metric] = encode(ratio);
  return {{"name", arm.name},
          {"allocator", allocator_name(arm.allocator)},
          {"cache_limit_mode", kind_name(arm.cache_limit.kind)},
          {"cache_limit_asked_bytes",
           arm.cache_limit.kind == ArmLimit::Kind::kBytes ? json(arm.cache_limit.bytes) : json(nullptr)},
          {"cache_limit_bytes", or_null(arm.cache_limit_bytes)},
          {"memory_limit_bytes", or_null(arm.memory_limit_bytes)},
          {"is_baseline", arm.is_baseline},
          {"reached", or_null(arm.reached)},
          {"predicted", nullptr},
          {"measured", encode(arm.measured)},
          {"change", change},
          {"saved_bytes", arm.saved_bytes ? encode(*arm.saved_bytes) : json(nullptr)},
          {"verdict", arm.is_baseline ? json(nullptr) : json(verdict_name(arm.verdict))},
          {"reason", arm.reason},
          {"sentence", arm.sentence}};
}

json encode(const NoiseFloor& n) {
  return {{"metric", n.metric},     {"sd_pair", n.sd_pair},
          {"sd_start", n.sd_start}, {"mde", or_null(n.mde)},
          {"bias", n.bias},         {"starts", n.starts},
          {"pairs", n.pairs},       {"minutes_for_margin", or_null(n.minutes_for_margin)}};
}

json encode(const CheckFinding& finding) {
  return {{"id", finding.id}, {"arm", finding.arm}, {"is_void", finding.is_void}, {"what", finding.what}};
}

json encode(const CellResult& cell);

template <class T>
json encode_all(const std::vector<T>& items) {
  json out = json::array();
  for (const auto& item : items)
    out.push_back(encode(item));
  return out;
}

json encode(const CellResult& cell) {
  return {{"name", cell.name},
          {"arms", encode_all(cell.arms)},
          {"noise", encode_all(cell.noise)},
          {"checks_failed", encode_all(cell.checks_failed)},
          {"footprint_prompts", cell.footprint_prompts},
          {"footprint_prompts_of", cell.footprint_prompts_of},
          {"shortest_prompt_tokens", cell.shortest_prompt_tokens},
          {"longest_prompt_tokens", cell.longest_prompt_tokens}};
}

json encode(const Rule& rule) {
  return {{"margin", rule.margin},
          {"saving_floor_bytes", rule.saving_floor_bytes},
          {"saving_share", rule.saving_share},
          {"alpha", rule.alpha},
          {"saving_bytes", or_null(rule.saving_bytes)},
          {"text", rule.text}};
}

json encode(const Environment& e) {
  return {{"model", e.model},     {"model_sha256", e.model_sha256}, {"model_bytes", e.model_bytes},
          {"backend", e.backend}, {"library", e.library},           {"blas", e.blas},
          {"machine", e.machine}, {"weir_sha256", e.weir_sha256},   {"threads", e.threads},
          {"cpus", e.cpus}};
}

Ratio read_ratio(JsonReader r, JsonReader& parent) {
  Ratio out;
  out.ratio = r.number("ratio");
  out.lower = r.number_or_null("lower");
  out.upper = r.number_or_null("upper");
  out.n = r.small("n");
  out.mde = r.number_or_null("mde");
  out.p_not_worse = r.number_or_null("p_not_worse");
  out.p_worse = r.number_or_null("p_worse");
  parent.adopt(r);
  return out;
}

Measured read_measured(JsonReader& arm) {
  JsonReader r(arm.object("measured"), "result");
  Measured out;
  out.footprint_peak_bytes = r.integer_or_null("footprint_peak_bytes");
  out.footprint_peak_low_bytes = r.integer_or_null("footprint_peak_low_bytes");
  out.live_peak_bytes = r.integer_or_null("live_peak_bytes");
  out.retained_peak_bytes = r.integer_or_null("retained_peak_bytes");
  out.page_faults = r.integer_or_null("page_faults");
  out.prefill_tokens_per_second = r.number_or_null(kPrefill);
  out.decode_tokens_per_second = r.number_or_null(kDecode);
  arm.adopt(r);
  return out;
}

std::optional<Saved> read_saved(JsonReader& arm, const json& object) {
  const auto it = object.find("saved_bytes");
  if (it == object.end() || it->is_null()) return std::nullopt;
  constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();
  JsonReader r(*it, "result");
  Saved out;
  out.value = r.integer("value", kLowest);
  out.lower = r.integer_or_null("lower", kLowest);
  out.upper = r.integer_or_null("upper", kLowest);
  out.n = r.small("n");
  out.p_saved = r.number_or_null("p_saved");
  out.p_not_saved = r.number_or_null("p_not_saved");
  arm.adopt(r);
  return out;
}

ArmResult read_arm(const json& object, JsonReader& parent) {
  JsonReader r(object, "result");
  ArmResult out;
  out.name = r.text("name");
  out.allocator = read_allocator(r);
  const auto kind = kind_from_name(r.text("cache_limit_mode"));
  if (!kind) r.refuse("cache_limit_mode", "must be bytes, unset or unlimited");
  out.cache_limit = {kind.value_or(ArmLimit::Kind::kUnset),
                     r.integer_or_null("cache_limit_asked_bytes").value_or(0)};
  out.cache_limit_bytes = r.integer_or_null("cache_limit_bytes");
  out.memory_limit_bytes = r.integer_or_null("memory_limit_bytes");
  out.is_baseline = r.boolean("is_baseline");
  out.reached = r.boolean_or_null("reached");
  out.measured = read_measured(r);
  for (const auto& [metric, ratio] : r.object("change").items())
    out.change[metric] = read_ratio({ratio, "result"}, r);
  if (object.is_object()) out.saved_bytes = read_saved(r, object);
  if (!out.is_baseline) {
    const auto verdict = verdict_from_name(r.text("verdict"));
    if (!verdict) r.refuse("verdict", "is not a verdict");
    out.verdict = verdict.value_or(Verdict::kInconclusive);
  }
  out.reason = r.text("reason");
  out.sentence = r.text("sentence");
  parent.adopt(r);
  return out;
}

NoiseFloor read_noise(JsonReader r, JsonReader& parent) {
  NoiseFloor out;
  out.metric = r.text("metric");
  out.sd_pair = r.number("sd_pair");
  out.sd_start = r.number("sd_start");
  out.mde = r.number_or_null("mde");
  out.bias = r.number("bias");
  out.starts = r.small("starts");
  out.pairs = r.small("pairs");
  out.minutes_for_margin = r.number_or_null("minutes_for_margin");
  parent.adopt(r);
  return out;
}

CellResult read_cell(const json& object, JsonReader& parent) {
  JsonReader r(object, "result");
  CellResult out;
  out.name = r.text("name");
  for (const auto& arm : r.array("arms"))
    out.arms.push_back(read_arm(arm, r));
  for (const auto& noise : r.array("noise"))
    out.noise.push_back(read_noise({noise, "result"}, r));
  for (const auto& finding : r.array("checks_failed")) {
    JsonReader f(finding, "result");
    out.checks_failed.push_back({f.text("id"), f.text("arm"), f.boolean("is_void"), f.text("what")});
    r.adopt(f);
  }
  out.footprint_prompts = r.small("footprint_prompts");
  out.footprint_prompts_of = r.small("footprint_prompts_of");
  out.shortest_prompt_tokens = r.small("shortest_prompt_tokens");
  out.longest_prompt_tokens = r.small("longest_prompt_tokens");
  parent.adopt(r);
  return out;
}

Rule read_rule(JsonReader& parent) {
  JsonReader r(parent.object("rule"), "result");
  Rule out;
  out.margin = r.number("margin");
  out.saving_floor_bytes = r.integer("saving_floor_bytes");
  out.saving_share = r.number("saving_share");
  out.alpha = r.number("alpha");
  out.saving_bytes = r.integer_or_null("saving_bytes");
  out.text = r.text("text");
  parent.adopt(r);
  return out;
}

Environment read_environment(JsonReader& parent) {
  JsonReader r(parent.object("environment"), "result");
  Environment out;
  out.model = r.text("model");
  out.model_sha256 = r.text("model_sha256");
  out.model_bytes = r.integer("model_bytes");
  out.backend = r.text("backend");
  out.library = r.text("library");
  out.blas = r.text("blas");
  out.machine = r.text("machine");
  out.weir_sha256 = r.text("weir_sha256");
  out.threads = r.small("threads");
  out.cpus = r.integers("cpus");
  parent.adopt(r);
  return out;
}

/// Absent in results of weir's first versions, which knew one design.
Design read_design(JsonReader& r) {
  if (!r.has("design")) return Design::kCrossover;
  const auto design = design_from_name(r.text("design"));
  if (!design) r.refuse("design", "must be crossover or between");
  return design.value_or(Design::kCrossover);
}

}  // namespace

std::string to_json(const ExperimentResult& r) {
  const json out{{"seal", r.seal},
                 {"sealed_at", r.sealed_at},
                 {"baseline", r.baseline},
                 {"recommended", or_null(r.recommended)},
                 {"rule", encode(r.rule)},
                 {"verdict", verdict_name(r.verdict)},
                 {"sentence", r.sentence},
                 {"design", design_name(r.design)},
                 {"quick", r.quick},
                 {"complete", r.complete},
                 {"pairs", r.pairs},
                 {"void_pairs", r.void_pairs},
                 {"starts", r.starts},
                 {"starts_planned", r.starts_planned},
                 {"blocks_per_start", r.blocks_per_start},
                 {"looks", r.looks},
                 {"looks_done", r.looks_done},
                 {"elapsed_seconds", r.elapsed_seconds},
                 {"cells", encode_all(r.cells)},
                 {"environment", encode(r.environment)}};
  return out.dump(2, ' ', false, json::error_handler_t::replace);
}

std::string to_json(const ArmResult& arm) {
  return encode(arm).dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<ArmResult> arm_from_json(std::string_view text) {
  auto object = parse_object(text, "result");
  if (!object) return tl::unexpected(object.error());
  JsonReader parent(*object, "result");
  ArmResult out = read_arm(*object, parent);
  if (parent.error()) return tl::unexpected(*parent.error());
  return out;
}

Result<ExperimentResult> result_from_json(std::string_view text) {
  auto object = parse_object(text, "result");
  if (!object) return tl::unexpected(object.error());
  JsonReader r(*object, "result");
  ExperimentResult out;
  out.seal = r.text("seal");
  out.sealed_at = r.text("sealed_at");
  out.baseline = r.text("baseline");
  if (r.has("recommended") && !(*object)["recommended"].is_null()) out.recommended = r.text("recommended");
  out.rule = read_rule(r);
  const auto verdict = verdict_from_name(r.text("verdict"));
  if (!verdict) r.refuse("verdict", "is not a verdict");
  out.verdict = verdict.value_or(Verdict::kInconclusive);
  out.sentence = r.text("sentence");
  out.design = read_design(r);
  out.quick = r.boolean("quick");
  out.complete = r.boolean("complete");
  out.pairs = r.small("pairs");
  out.void_pairs = r.small("void_pairs");
  out.starts = r.small("starts");
  out.starts_planned = r.small("starts_planned");
  out.blocks_per_start = r.small("blocks_per_start");
  out.looks = r.small("looks");
  out.looks_done = r.small("looks_done");
  out.elapsed_seconds = r.number("elapsed_seconds");
  for (const auto& cell : r.array("cells"))
    out.cells.push_back(read_cell(cell, r));
  out.environment = read_environment(r);
  if (r.error()) return tl::unexpected(*r.error());
  return out;
}

}  // namespace weir::lab
