#include "cli/limits.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/allocator_flag.h"
#include "cli/governed_target.h"
#include "cli/limit_flags.h"
#include "cli/process_limits.h"
#include "limits/setting_json.h"
#include "llm/models.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

struct Options {
  std::optional<std::string> model, allocator, process;
  LimitFlags limits;
  bool json = false;
};

std::string table(const limits::Resolved& resolved, const limits::BackendRules& backend) {
  struct Row {
    std::string knob, value, source, rules;
  };
  std::vector<Row> rows = {{"knob", "value", "source", fmt::format("on {}", backend.name)}};
  for (const limits::Knob knob : {limits::Knob::kCacheLimit, limits::Knob::kMemoryLimit}) {
    const auto& setting = knob == limits::Knob::kCacheLimit ? resolved.cache_limit : resolved.memory_limit;
    rows.push_back(
        {limits::knob_names(knob).name, limits::echo_value(setting), setting.source, setting.rules});
  }
  std::size_t knob = 0, value = 0, source = 0;
  for (const Row& row : rows) {
    knob = std::max(knob, row.knob.size());
    value = std::max(value, row.value.size());
    source = std::max(source, row.source.size());
  }
  std::string out;
  for (const Row& row : rows) {
    out += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", row.knob, knob, row.value, value, row.source, source,
                       row.rules);
  }
  return out;
}

void print_json(const nlohmann::json& json) {
  print_result(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

/// What is in force in a running process; no flag, variable or file of ours has a say in it.
Result<int> run_process_limits(const Options& options, const Invocation& invocation) {
  for (const auto& [given, what] : {std::pair(options.model.has_value(), "MODEL"),
                                    std::pair(options.allocator.has_value(), "--allocator"),
                                    std::pair(options.limits.cache_limit.has_value(), "--cache-limit"),
                                    std::pair(options.limits.memory_limit.has_value(), "--memory-limit")})
    if (given)
      return fail(
          ErrorKind::kUsage, "--pid",
          fmt::format("shows what is in force in that process, so {} does not go with it; leave one of "
                      "the two out (weir ctl {} set changes a limit)",
                      what, *options.process));
  const auto target = governed_target(*options.process);
  if (!target) return tl::unexpected(target.error());
  const ledger::PageReading& page = target->page;
  const limits::Resolved resolved = limits_in_force(page, settings_at_start(page.pid));
  const limits::BackendRules& backend = rules_of(page.allocator);
  note_warnings(invocation, resolved.warnings);
  if (!options.json) {
    print_result(target_name(page) + "\n\n" + table(resolved, backend));
    return 0;
  }
  nlohmann::json json = limits::to_json(resolved);
  json["pid"] = page.pid;
  json["command"] = page.command;
  json["backend"] = backend.name;
  json["allocator"] = wire::allocator_name(page.allocator);
  json["model"] = nullptr;
  json["stored_curve"] = nlohmann::json::array();
  print_json(json);
  return 0;
}

Result<int> run_limits(const Options& options, const LimitsHooks& hooks, const Invocation& invocation) {
  if (options.process) return run_process_limits(options, invocation);
  const std::string model = options.model.value_or(std::string(llm::kDefaultModel));
  std::optional<std::filesystem::path> file;
  if (options.model) {
    auto found = llm::find_model(model);
    if (!found) return tl::unexpected(std::move(found.error()));
    file = std::move(*found);
  }
  limits::Inputs inputs = limit_inputs(options.limits, file);
  const wire::Allocator allocator = named_allocator(options.allocator, wire::Allocator::kMlx);
  inputs.backend = &rules_of(allocator);
  if (hooks.auto_answer) inputs.auto_answer = [&] { return hooks.auto_answer(model, allocator); };
  const auto resolved = limits::resolve(inputs);
  if (!resolved) return tl::unexpected(resolved.error());
  const auto curve = hooks.stored_curve ? hooks.stored_curve(model) : std::vector<std::string>{};
  note_warnings(invocation, resolved->warnings);
  if (options.json) {
    nlohmann::json json = limits::to_json(*resolved);
    json["backend"] = limits::mlx_cpu_rules().name;
    json["allocator"] = wire::allocator_name(allocator);
    json["model"] = options.model ? nlohmann::json(model) : nlohmann::json(nullptr);
    json["stored_curve"] = curve;
    print_json(json);
    return 0;
  }
  std::string out = table(*resolved, *inputs.backend);
  if (!options.allocator)
    out += "\nThis is MLX's own allocator; `weir run` and `weir generate` use weir's: --allocator weir\n";
  if (!curve.empty()) out += "\n";
  for (const std::string& line : curve)
    out += line + "\n";
  print_result(out);
  return 0;
}

}  // namespace

Subcommand limits_subcommand(LimitsHooks hooks) {
  const auto options = std::make_shared<Options>();
  Subcommand subcommand;
  subcommand.name = "limits";
  subcommand.summary = "Every knob: the value the next run would get, its source, and what it rules here";
  subcommand.example =
      "  weir limits smollm2 --cache-limit 64MiB\n  weir limits --allocator weir --memory-limit 2GiB\n  "
      "weir limits --pid 26219\n  WEIR_CACHE_LIMIT=10%free weir limits --json";
  subcommand.positionals = {{"MODEL",
                             "A known name or a GGUF file: what %model and auto are about",
                             &options->model,
                             false,
                             {std::string(llm::kDefaultModel)}}};
  subcommand.flags = limit_flags(options->limits);
  subcommand.flags.push_back(allocator_flag(options->allocator));
  subcommand.flags.push_back(
      {"--pid", "PID", "What is in force in this governed process, by pid or name", &options->process});
  subcommand.flags.push_back({"--json", "", "Print JSON", &options->json});
  subcommand.run = [options, hooks = std::move(hooks)](const Invocation& invocation) {
    return run_limits(*options, hooks, invocation);
  };
  return subcommand;
}

}  // namespace weir::cli
