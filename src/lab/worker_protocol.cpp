#include "lab/worker_protocol.h"

#include <array>
#include <utility>

#include "lab/json_reader.h"

namespace weir::lab {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<const char*, ErrorKind>, 5> kKinds{{{"usage", ErrorKind::kUsage},
                                                                   {"bad_data", ErrorKind::kBadData},
                                                                   {"environment", ErrorKind::kEnvironment},
                                                                   {"internal", ErrorKind::kInternal},
                                                                   {"no_room", ErrorKind::kNoRoom}}};

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

json layers_of(const std::string& text) {
  if (text.empty()) return json::object();
  auto parsed = parse_object(text, "layers");
  return parsed ? *parsed : json::object();
}

json encode(const SwitchRequest& request) {
  json limit{{"mode", kind_name(request.cache_limit.kind)}, {"bytes", nullptr}};
  if (request.cache_limit.kind == ArmLimit::Kind::kBytes) limit["bytes"] = request.cache_limit.bytes;
  return {{"op", "switch"}, {"allocator", allocator_name(request.allocator)}, {"cache_limit", limit}};
}

json encode(const GenerateRequest& r) {
  return {{"op", "generate"},
          {"name", r.name},
          {"text", r.text},
          {"prompt_tokens", r.prompt_tokens},
          {"generate_tokens", r.generate_tokens}};
}

json encode(const MeasureRequest& request) {
  return {{"op", "measure"}, {"reset", request.reset}};
}

json encode(const QuitRequest&) {
  return {{"op", "quit"}};
}

json encode(const ReadyEvent& e) {
  return {{"event", "ready"},
          {"protocol", e.protocol},
          {"pid", e.pid},
          {"model", {{"name", e.model_name}, {"path_sha256", e.model_sha256}, {"bytes", e.model_bytes}}},
          {"backend", e.backend},
          {"library", e.library},
          {"blas", e.blas},
          {"machine", e.machine},
          {"threads", e.threads},
          {"allocator", allocator_name(e.allocator)},
          {"layers", layers_of(e.layers_json)}};
}

json encode(const SwitchedEvent& e) {
  return {{"event", "switched"},
          {"allocator", allocator_name(e.allocator)},
          {"previous_bytes", or_null(e.previous_bytes)},
          {"in_force_bytes", or_null(e.in_force_bytes)},
          {"trimmed_bytes", e.trimmed_bytes},
          {"seconds", e.seconds}};
}

json encode(const GeneratedEvent& e) {
  return {{"event", "generated"},
          {"name", e.name},
          {"prompt_tokens", e.prompt_tokens},
          {"generated_tokens", e.generated_tokens},
          {"finish_reason", e.finish_reason},
          {"ids_hash", e.ids_hash},
          {"prefill_seconds", e.prefill_seconds},
          {"decode_seconds", e.decode_seconds},
          {"live_peak_bytes", e.live_peak_bytes},
          {"retained_peak_bytes", e.retained_peak_bytes},
          {"retained_bytes", e.retained_bytes},
          {"live_bytes", e.live_bytes},
          {"minor_faults", e.minor_faults},
          {"major_faults", e.major_faults}};
}

json encode(const MeasuredEvent& e) {
  return {{"event", "measured"},
          {"layers", layers_of(e.layers_json)},
          {"footprint_peak_high_bytes", e.footprint_peak_high_bytes},
          {"footprint_peak_low_bytes", e.footprint_peak_low_bytes},
          {"footprint_peak_source", e.footprint_peak_source},
          {"live_peak_bytes", e.live_peak_bytes},
          {"retained_peak_bytes", e.retained_peak_bytes},
          {"minor_faults", e.minor_faults},
          {"major_faults", e.major_faults}};
}

json encode(const ErrorEvent& e) {
  const char* name = "internal";
  for (const auto& [word, kind] : kKinds)
    if (kind == e.kind) name = word;
  return {{"event", "error"}, {"kind", name}, {"message", e.message}};
}

WorkerRequest read_switch(JsonReader& r) {
  JsonReader limit(r.object("cache_limit"), "cache_limit");
  const auto kind = kind_from_name(limit.text("mode"));
  if (!kind) limit.refuse("mode", "must be bytes, unset or unlimited");
  SwitchRequest out;
  out.allocator = read_allocator(r);
  out.cache_limit.kind = kind.value_or(ArmLimit::Kind::kUnset);
  if (kind == ArmLimit::Kind::kBytes) out.cache_limit.bytes = limit.integer("bytes");
  r.adopt(limit);
  return out;
}

WorkerRequest read_generate(JsonReader& r) {
  return GenerateRequest{r.text("name"), r.text("text"), r.integer("prompt_tokens", 1, kMaxTokens),
                         r.integer("generate_tokens", 1, kMaxTokens)};
}

double read_duration(JsonReader& r, const char* key) {
  const double value = r.number(key);
  if (value < 0) r.refuse(key, "must not be negative");
  return value;
}

WorkerEvent read_ready(JsonReader& r) {
  ReadyEvent e;
  e.protocol = r.small("protocol");
  e.pid = r.integer("pid");
  JsonReader model(r.object("model"), "model");
  e.model_name = model.text("name");
  e.model_sha256 = model.text("path_sha256");
  e.model_bytes = model.integer("bytes");
  e.backend = r.text("backend");
  e.library = r.text("library");
  e.blas = r.text("blas");
  e.machine = r.text("machine");
  e.threads = r.small("threads");
  e.allocator = read_allocator(r);
  e.layers_json = r.object("layers").dump(-1, ' ', false, json::error_handler_t::replace);
  r.adopt(model);
  return e;
}

WorkerEvent read_switched(JsonReader& r) {
  SwitchedEvent e;
  e.previous_bytes = r.integer_or_null("previous_bytes");
  e.in_force_bytes = r.integer_or_null("in_force_bytes");
  e.trimmed_bytes = r.integer("trimmed_bytes");
  e.seconds = read_duration(r, "seconds");
  e.allocator = read_allocator(r);
  return e;
}

WorkerEvent read_generated(JsonReader& r) {
  GeneratedEvent e;
  e.name = r.text("name");
  e.prompt_tokens = r.integer("prompt_tokens", 0, kMaxTokens);
  e.generated_tokens = r.integer("generated_tokens", 0, kMaxTokens);
  e.finish_reason = r.text("finish_reason");
  e.ids_hash = r.text("ids_hash");
  e.prefill_seconds = read_duration(r, "prefill_seconds");
  e.decode_seconds = read_duration(r, "decode_seconds");
  e.live_peak_bytes = r.integer("live_peak_bytes");
  e.retained_peak_bytes = r.integer("retained_peak_bytes");
  e.retained_bytes = r.integer("retained_bytes");
  e.live_bytes = r.integer("live_bytes");
  e.minor_faults = r.integer("minor_faults");
  e.major_faults = r.integer("major_faults");
  return e;
}

WorkerEvent read_measured(JsonReader& r) {
  MeasuredEvent e;
  e.layers_json = r.object("layers").dump(-1, ' ', false, json::error_handler_t::replace);
  e.footprint_peak_high_bytes = r.integer("footprint_peak_high_bytes");
  e.footprint_peak_low_bytes = r.integer("footprint_peak_low_bytes");
  e.footprint_peak_source = r.text("footprint_peak_source");
  e.live_peak_bytes = r.integer("live_peak_bytes");
  e.retained_peak_bytes = r.integer("retained_peak_bytes");
  e.minor_faults = r.integer("minor_faults");
  e.major_faults = r.integer("major_faults");
  if (e.footprint_peak_low_bytes > e.footprint_peak_high_bytes)
    r.refuse("footprint_peak_low_bytes", "must not lie above footprint_peak_high_bytes");
  return e;
}

WorkerEvent read_error(JsonReader& r) {
  ErrorEvent e;
  const std::string word = r.text("kind");
  bool known = false;
  for (const auto& [name, kind] : kKinds) {
    if (word != name) continue;
    e.kind = kind;
    known = true;
  }
  if (!known) r.refuse("kind", "must be usage, bad_data, environment, internal or no_room");
  e.message = r.text("message");
  return e;
}

Result<nlohmann::json> parse_line(std::string_view line) {
  if (line.size() > kMaxLineBytes) return fail(ErrorKind::kBadData, "worker", "a line exceeds 1 MiB");
  return parse_object(line, "worker");
}

template <class T>
struct Reading {
  const char* word;
  T (*read)(JsonReader&);
};

template <class T, std::size_t N>
Result<T> read_as(std::string_view line, const char* key, const std::array<Reading<T>, N>& table) {
  auto object = parse_line(line);
  if (!object) return tl::unexpected(object.error());
  JsonReader reader(*object, "worker");
  const std::string word = reader.text(key);
  for (const auto& entry : table) {
    if (word != entry.word) continue;
    T value = entry.read(reader);
    if (reader.error()) return tl::unexpected(*reader.error());
    return value;
  }
  reader.refuse(key, "names nothing that this protocol knows");
  return tl::unexpected(*reader.error());
}

}  // namespace

std::string to_line(const WorkerRequest& request) {
  return dump(std::visit([](const auto& r) { return encode(r); }, request));
}

std::string to_line(const WorkerEvent& event) {
  return dump(std::visit([](const auto& e) { return encode(e); }, event));
}

Result<WorkerRequest> parse_request(std::string_view line) {
  static const std::array<Reading<WorkerRequest>, 4> table{
      {{"switch", read_switch},
       {"generate", read_generate},
       {"measure", [](JsonReader& r) -> WorkerRequest { return MeasureRequest{r.boolean("reset")}; }},
       {"quit", [](JsonReader&) -> WorkerRequest { return QuitRequest{}; }}}};
  return read_as(line, "op", table);
}

Result<WorkerEvent> parse_event(std::string_view line) {
  static const std::array<Reading<WorkerEvent>, 5> table{{{"ready", read_ready},
                                                          {"switched", read_switched},
                                                          {"generated", read_generated},
                                                          {"measured", read_measured},
                                                          {"error", read_error}}};
  return read_as(line, "event", table);
}

}  // namespace weir::lab
