#include <cmath>

#include "base/sha256.h"
#include "lab/json_reader.h"
#include "lab/plan.h"

namespace weir::lab {

namespace {

using nlohmann::json;

std::int64_t millionths(double share) {
  return std::llround(share * 1e6);
}
std::int64_t thousandths(double value) {
  return std::llround(value * 1e3);
}

json arms_json(const std::vector<Arm>& arms) {
  json out = json::array();
  for (const auto& arm : arms)
    out.push_back({{"name", arm.name},
                   {"allocator", allocator_name(arm.allocator)},
                   {"mode", kind_name(arm.cache_limit.kind)},
                   {"bytes", arm.cache_limit.bytes}});
  return out;
}

json question_json(const Question& q) {
  return {{"model", q.model},
          {"model_sha256", q.model_sha256},
          {"model_bytes", q.model_bytes},
          {"library", q.library},
          {"backend", q.backend},
          {"blas", q.blas},
          {"threads", q.threads},
          {"cpus", q.cpus},
          {"machine", q.machine},
          {"weir_sha256", q.weir_sha256},
          {"worker", q.worker},
          {"cell", q.cell},
          {"cell_sha256", q.cell_sha256},
          {"arms", arms_json(q.arms)},
          {"baseline", q.baseline},
          {"margin_millionths", millionths(q.rule.margin)},
          {"saving_floor_bytes", q.rule.saving_floor_bytes},
          {"saving_share_millionths", millionths(q.rule.saving_share)},
          {"alpha_millionths", millionths(q.rule.alpha)},
          {"budget", budget_name(q.budget)},
          {"minutes_thousandths", thousandths(q.minutes)}};
}

json sizes_json(const DesignSizes& s) {
  return {{"starts", s.starts},
          {"blocks_per_start", s.blocks_per_start},
          {"warm_per_turn", s.warm_per_turn},
          {"footprint_starts_per_arm", s.footprint_starts_per_arm},
          {"footprint_prompts", s.footprint_prompts},
          {"looks", s.looks}};
}

json probe_json(const Probe& p) {
  return {{"load_milliseconds", p.load_milliseconds},
          {"turn_milliseconds", p.turn_milliseconds},
          {"footprint_start_milliseconds", p.footprint_start_milliseconds},
          {"retained_peak_bytes", p.retained_peak_bytes},
          {"footprint_peak_bytes", p.footprint_peak_bytes},
          {"reached", p.reached},
          {"spent_milliseconds", p.spent_milliseconds}};
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<Arm> read_arms(JsonReader& reader) {
  std::vector<Arm> out;
  for (const auto& item : reader.array("arms")) {
    JsonReader r(item, "plan");
    Arm arm{r.text("name"), {}, read_allocator(r)};
    const auto kind = kind_from_name(r.text("mode"));
    if (!kind) r.refuse("mode", "must be bytes, unset or unlimited");
    arm.cache_limit = {kind.value_or(ArmLimit::Kind::kUnset), r.integer("bytes")};
    reader.adopt(r);
    out.push_back(std::move(arm));
  }
  return out;
}

Question read_question(JsonReader& r) {
  Question q;
  q.model = r.text("model");
  q.model_sha256 = r.text("model_sha256");
  q.model_bytes = r.integer("model_bytes");
  q.library = r.text("library");
  q.backend = r.text("backend");
  q.blas = r.text("blas");
  q.threads = r.small("threads");
  q.cpus = r.integers("cpus");
  q.machine = r.text("machine");
  q.weir_sha256 = r.text("weir_sha256");
  q.worker = r.texts("worker");
  q.cell = r.text("cell");
  q.cell_sha256 = r.text("cell_sha256");
  q.arms = read_arms(r);
  q.baseline = r.text("baseline");
  q.rule.margin = static_cast<double>(r.integer("margin_millionths")) / 1e6;
  q.rule.saving_floor_bytes = r.integer("saving_floor_bytes");
  q.rule.saving_share = static_cast<double>(r.integer("saving_share_millionths")) / 1e6;
  q.rule.alpha = static_cast<double>(r.integer("alpha_millionths")) / 1e6;
  const std::string budget = r.text("budget");
  for (const auto candidate : {Budget::kDefault, Budget::kQuick, Budget::kDecide})
    if (budget == budget_name(candidate)) q.budget = candidate;
  if (budget != budget_name(q.budget)) r.refuse("budget", "must be default, quick or decide");
  q.minutes = static_cast<double>(r.integer("minutes_thousandths")) / 1e3;
  return q;
}

DesignSizes read_sizes(JsonReader& reader) {
  JsonReader r(reader.object("sizes"), "plan");
  DesignSizes out{r.small("starts"),
                  r.small("blocks_per_start"),
                  r.small("warm_per_turn"),
                  r.small("footprint_starts_per_arm"),
                  r.small("footprint_prompts"),
                  r.small("looks")};
  reader.adopt(r);
  return out;
}

Probe read_probe(JsonReader& reader) {
  JsonReader r(reader.object("probe"), "plan");
  Probe out{r.integer("load_milliseconds"),
            r.integer("turn_milliseconds"),
            r.integer("footprint_start_milliseconds"),
            r.integer("retained_peak_bytes"),
            r.integer("footprint_peak_bytes"),
            r.boolean("reached"),
            r.integer("spent_milliseconds")};
  reader.adopt(r);
  return out;
}

}  // namespace

std::string canonical_json(const Plan& plan) {
  json out{{"question", question_json(plan.question)},
           {"sizes", sizes_json(plan.sizes)},
           {"probe", probe_json(plan.probe)},
           {"seed", plan.seed},
           {"sealed_at", plan.sealed_at},
           {"format", 1}};
  // It follows from the arms; written so that a plan can be read alone, and left out so that old seals hold.
  const Design design = design_of(plan.question);
  if (design != Design::kCrossover) out["design"] = design_name(design);
  return dump(out);
}

Result<Plan> plan_from_json(std::string_view text) {
  auto object = parse_object(text, "plan");
  if (!object) return tl::unexpected(object.error());
  JsonReader reader(*object, "plan");
  Plan plan;
  JsonReader question(reader.object("question"), "plan");
  plan.question = read_question(question);
  reader.adopt(question);
  plan.sizes = read_sizes(reader);
  plan.probe = read_probe(reader);
  if (reader.has("seed") && (*object)["seed"].is_number_unsigned())
    plan.seed = (*object)["seed"].get<std::uint64_t>();
  else
    reader.refuse("seed", "must be an unsigned integer");
  plan.sealed_at = reader.text("sealed_at");
  if (reader.has("design") && reader.text("design") != design_name(design_of(plan.question)))
    reader.refuse("design", "is not the one that the arms have");
  if (reader.error()) return tl::unexpected(*reader.error());
  return plan;
}

std::string seal(const Plan& plan) {
  return sha256_hex(canonical_json(plan));
}

std::string question_hash(const Question& question) {
  return sha256_hex(dump(question_json(question)));
}

}  // namespace weir::lab
