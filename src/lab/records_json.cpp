#include "lab/json_reader.h"
#include "lab/records.h"

namespace weir::lab {

namespace {

using nlohmann::json;

json or_null(const std::optional<std::int64_t>& value) {
  return value ? json(*value) : json(nullptr);
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json encode(const std::vector<RequestRecord>& requests) {
  json out = json::array();
  for (const auto& r : requests)
    out.push_back({{"name", r.name},
                   {"prompt_tokens", r.prompt_tokens},
                   {"generated_tokens", r.generated_tokens},
                   {"finish_reason", r.finish_reason},
                   {"ids_hash", r.ids_hash},
                   {"prefill_seconds", r.prefill_seconds},
                   {"decode_seconds", r.decode_seconds}});
  return out;
}

std::vector<RequestRecord> read_requests(JsonReader& parent, const char* key) {
  std::vector<RequestRecord> out;
  for (const auto& item : parent.array(key)) {
    JsonReader r(item, "record");
    out.push_back({r.text("name"), r.integer("prompt_tokens"), r.integer("generated_tokens"),
                   r.text("finish_reason"), r.text("ids_hash"), r.number("prefill_seconds"),
                   r.number("decode_seconds")});
    parent.adopt(r);
  }
  return out;
}

json encode(const TurnRecord& t) {
  return {{"arm", t.arm},
          {"second", t.second},
          {"allocator", allocator_name(t.allocator)},
          {"in_force_bytes", or_null(t.in_force_bytes)},
          {"retained_peak_bytes", t.retained_peak_bytes},
          {"retained_bytes", t.retained_bytes},
          {"page_faults", t.page_faults},
          {"warm", encode(t.warm)},
          {"measured", encode(t.measured)}};
}

TurnRecord read_turn(const json& item, JsonReader& parent) {
  JsonReader r(item, "record");
  TurnRecord t;
  t.arm = r.small("arm");
  t.second = r.boolean("second");
  t.allocator = read_allocator(r);
  t.in_force_bytes = r.integer_or_null("in_force_bytes");
  t.retained_peak_bytes = r.integer("retained_peak_bytes");
  t.retained_bytes = r.integer("retained_bytes");
  t.page_faults = r.integer("page_faults");
  t.warm = read_requests(r, "warm");
  t.measured = read_requests(r, "measured");
  parent.adopt(r);
  return t;
}

}  // namespace

std::string to_json(const BlockRecord& record) {
  json turns = json::array();
  for (const auto& turn : record.turns)
    turns.push_back(encode(turn));
  return dump(
      {{"start", record.start}, {"block", record.block}, {"turns", turns}, {"seconds", record.seconds}});
}

Result<BlockRecord> block_from_json(std::string_view text) {
  auto object = parse_object(text, "record");
  if (!object) return tl::unexpected(object.error());
  JsonReader r(*object, "record");
  BlockRecord out{r.small("start"), r.small("block"), {}, r.number("seconds")};
  for (const auto& turn : r.array("turns"))
    out.turns.push_back(read_turn(turn, r));
  if (r.error()) return tl::unexpected(*r.error());
  return out;
}

std::string to_json(const FootprintRecord& f) {
  return dump({{"index", f.index},
               {"arm", f.arm},
               {"allocator", allocator_name(f.allocator)},
               {"in_force_bytes", or_null(f.in_force_bytes)},
               {"footprint_peak_high_bytes", f.footprint_peak_high_bytes},
               {"footprint_peak_low_bytes", f.footprint_peak_low_bytes},
               {"footprint_peak_source", f.footprint_peak_source},
               {"live_peak_bytes", f.live_peak_bytes},
               {"retained_peak_bytes", f.retained_peak_bytes},
               {"retained_bytes", f.retained_bytes},
               {"page_faults", f.page_faults},
               {"requests", encode(f.requests)},
               {"seconds", f.seconds}});
}

Result<FootprintRecord> footprint_from_json(std::string_view text) {
  auto object = parse_object(text, "record");
  if (!object) return tl::unexpected(object.error());
  JsonReader r(*object, "record");
  FootprintRecord f;
  f.index = r.small("index");
  f.arm = r.small("arm");
  f.allocator = read_allocator(r);
  f.in_force_bytes = r.integer_or_null("in_force_bytes");
  f.footprint_peak_high_bytes = r.integer("footprint_peak_high_bytes");
  f.footprint_peak_low_bytes = r.integer("footprint_peak_low_bytes");
  f.footprint_peak_source = r.text("footprint_peak_source");
  f.live_peak_bytes = r.integer("live_peak_bytes");
  f.retained_peak_bytes = r.integer("retained_peak_bytes");
  f.retained_bytes = r.integer("retained_bytes");
  f.page_faults = r.integer("page_faults");
  f.requests = read_requests(r, "requests");
  f.seconds = r.number("seconds");
  if (r.error()) return tl::unexpected(*r.error());
  return f;
}

std::string to_json(const StartFailures& f) {
  return dump({{"footprint", f.footprint}, {"index", f.index}, {"messages", f.messages}});
}

Result<StartFailures> failures_from_json(std::string_view text) {
  auto object = parse_object(text, "record");
  if (!object) return tl::unexpected(object.error());
  JsonReader r(*object, "record");
  StartFailures out{r.boolean("footprint"), r.small("index"), r.texts("messages")};
  if (r.error()) return tl::unexpected(*r.error());
  return out;
}

}  // namespace weir::lab
