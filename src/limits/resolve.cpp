#include "limits/resolve.h"

#include <fmt/format.h>

#include "limits/config_file.h"
#include "limits/size.h"

namespace weir::limits {
namespace {

/// One source that is present and binds.
struct Candidate {
  std::string source;
  std::string where;  ///< As errors name it: the source, or the config file with its line.
  std::string text;
  Size size;
};

using Candidates = std::vector<Candidate>;

Result<void> add(Candidates& to, Knob knob, std::string source, std::string where, const std::string& text) {
  auto size = parse_size(text, knob, where);
  if (!size) return tl::unexpected(std::move(size.error()));
  to.push_back({std::move(source), std::move(where), text, std::move(*size)});
  return {};
}

/// nullopt: the name's home leaves the default alone at 0, so it binds nothing.
Result<std::optional<Size>> compatible_size(const CompatibleName& name, const std::string& text) {
  if (name.unit_bytes == 1) {
    auto size = parse_size(text, name.knob, name.name);
    if (!size) return tl::unexpected(std::move(size.error()));
    return std::optional<Size>(std::move(*size));
  }
  const auto bytes = parse_count(text, name.unit_bytes, name.name);
  if (!bytes) return tl::unexpected(bytes.error());
  if (*bytes == 0 && !name.zero_binds) return std::optional<Size>();
  return std::optional<Size>(Size{Mode::kBytes, *bytes, {}});
}

/// The first compatibility name that binds; another one that disagrees with it is an error.
Result<void> add_compatible(Candidates& to, Knob knob, const Variables& variables) {
  std::optional<Candidate> first;
  for (const CompatibleName& name : compatible_names()) {
    const auto found = variables.find(name.name);
    if (name.knob != knob || found == variables.end()) continue;
    auto size = compatible_size(name, found->second);
    if (!size) return tl::unexpected(std::move(size.error()));
    if (!size->has_value()) continue;
    const std::string source(name.name);
    if (!first) {
      first = Candidate{source, source, found->second, std::move(**size)};
    } else if (!(first->size == **size)) {
      return fail(
          ErrorKind::kUsage, first->source + ", " + source,
          fmt::format("two names for one {} disagree: {}={} and {}={}; unset one of them, or set {} alone",
                      knob_names(knob).name, first->source, shown(first->text), source, shown(found->second),
                      knob_names(knob).variable));
    }
  }
  if (first) to.push_back(std::move(*first));
  return {};
}

/// Highest first.
Result<Candidates> candidates(Knob knob, const Inputs& inputs, const Config& config) {
  const KnobNames& names = knob_names(knob);
  Candidates found;
  Result<void> done;
  const auto& flag = knob == Knob::kCacheLimit ? inputs.cache_limit_flag : inputs.memory_limit_flag;
  if (flag) done = add(found, knob, names.flag, names.flag, *flag);
  if (!done) return tl::unexpected(std::move(done.error()));
  if (const auto variable = inputs.variables.find(names.variable); variable != inputs.variables.end()) {
    done = add(found, knob, names.variable, names.variable, variable->second);
    if (!done) return tl::unexpected(std::move(done.error()));
  }
  done = add_compatible(found, knob, inputs.variables);
  if (!done) return tl::unexpected(std::move(done.error()));
  if (const auto& value = config.value(knob)) {
    done = add(found, knob, inputs.config->string(), value->where + ": " + names.key, value->text);
    if (!done) return tl::unexpected(std::move(done.error()));
  }
  return found;
}

Result<std::int64_t> denominator(const Denominators& denominators, const std::string& of,
                                 const std::string& where) {
  const auto& read = of == "free"    ? denominators.free
                     : of == "total" ? denominators.total
                                     : denominators.model;
  if (read) return read();
  if (of == "model") {
    return fail(
        ErrorKind::kUsage, where,
        "a percentage of the model needs a model; name one, or write a size such as 512MiB or 10%free");
  }
  return fail(ErrorKind::kEnvironment, where,
              fmt::format("how much is {} is not known here; write a size", of));
}

Result<void> apply_percentage(Setting& setting, const Candidate& candidate, Knob knob, const Inputs& inputs) {
  const Percentage& percentage = *candidate.size.percentage;
  const auto of = denominator(inputs.denominators, percentage.of, candidate.where);
  if (!of) return tl::unexpected(of.error());
  setting.denominator = percentage.of;
  setting.denominator_bytes = *of;
  setting.bytes = bytes_of(percentage, *of);
  const bool too_much = !setting.bytes;
  if (!too_much && (*setting.bytes > 0 || knob == Knob::kCacheLimit)) return {};
  return fail(ErrorKind::kUsage, candidate.where,
              fmt::format("{} of {} {} bytes: {}; {}", too_much ? "more than the largest size" : "0 bytes",
                          *of, percentage.of, shown(candidate.text), correct_example(knob)));
}

std::optional<std::int64_t> library_default(Knob knob, const Inputs& inputs) {
  std::optional<std::int64_t> total;
  if (knob == Knob::kMemoryLimit && inputs.denominators.total) {
    if (const auto read = inputs.denominators.total()) total = *read;
  }
  return inputs.backend->default_bytes(knob, total);
}

/// What nobody's wish comes to on this backend: a number, or words.
void apply_default(Setting& setting, Knob knob, const Inputs& inputs) {
  setting.effective_bytes = library_default(knob, inputs);
  if (!setting.effective_bytes) setting.unset_text = inputs.backend->unset_text(knob);
}

void apply_auto(Setting& setting, Knob knob, const Inputs& inputs, std::vector<Warning>& warnings) {
  std::optional<AutoAnswer> answer;
  if (knob == Knob::kCacheLimit && inputs.auto_answer) answer = inputs.auto_answer();
  if (!answer) {
    apply_default(setting, knob, inputs);
    setting.note = knob == Knob::kCacheLimit
                       ? "as unset: no fresh SHIP in every cell is stored for this model, machine and library"
                       : "as unset: only cache limits are priced";
    warnings.push_back({setting.source, "auto behaves " + setting.note});
    return;
  }
  if (answer->mode == Mode::kBytes) setting.effective_bytes = answer->bytes;
  if (answer->mode == Mode::kUnset) apply_default(setting, knob, inputs);
  setting.note = (answer->mode == Mode::kUnset ? "as unset: " : "") + answer->why;
}

Result<Setting> setting_of(Knob knob, const Inputs& inputs, const Config& config,
                           std::vector<Warning>& warnings) {
  const auto found = candidates(knob, inputs, config);
  if (!found) return tl::unexpected(found.error());
  Setting setting;
  setting.source = kLibraryDefault;
  setting.rules = inputs.backend->rules(knob);
  const bool by_nobody = found->empty();
  if (!by_nobody) {
    setting.source = found->front().source;
    setting.text = found->front().text;
    setting.mode = found->front().size.mode;
    setting.bytes = found->front().size.bytes;
  }
  if (!by_nobody && found->front().size.percentage) {
    auto applied = apply_percentage(setting, found->front(), knob, inputs);
    if (!applied) return tl::unexpected(std::move(applied.error()));
  }
  if (setting.mode == Mode::kUnset) apply_default(setting, knob, inputs);
  if (setting.mode == Mode::kBytes) setting.effective_bytes = setting.bytes;
  if (setting.mode == Mode::kAuto) apply_auto(setting, knob, inputs, warnings);
  return setting;
}

}  // namespace

Result<Resolved> resolve(const Inputs& inputs) {
  Config config;
  if (inputs.config) {
    auto read = read_config(*inputs.config);
    if (!read) return tl::unexpected(std::move(read.error()));
    config = std::move(*read);
  }
  Resolved resolved;
  auto cache = setting_of(Knob::kCacheLimit, inputs, config, resolved.warnings);
  if (!cache) return tl::unexpected(std::move(cache.error()));
  auto memory = setting_of(Knob::kMemoryLimit, inputs, config, resolved.warnings);
  if (!memory) return tl::unexpected(std::move(memory.error()));
  resolved.cache_limit = std::move(*cache);
  resolved.memory_limit = std::move(*memory);
  for (Warning& warning : unread_variables(inputs.variables))
    resolved.warnings.push_back(std::move(warning));
  return resolved;
}

}  // namespace weir::limits
