#include "cli/price.h"

#include <unistd.h>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "base/interrupt.h"
#include "cli/limit_flags.h"
#include "lab/result_json.h"
#include "limits/size.h"
#include "llm/models.h"
#include "price/price.h"
#include "price/progress_lines.h"
#include "report/terminal_table.h"

namespace weir::cli {
namespace {

constexpr double kLongestMinutes = 24 * 60;

struct Options {
  std::optional<std::string> model, workload, limits, arms, baseline, output, worker;
  std::optional<double> decide;
  std::optional<std::int64_t> seed;
  bool quick = false, afresh = false, check = false, json = false;
};

std::uint64_t drawn_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 16 ^ device()) & ((std::uint64_t{1} << 48) - 1);
}

/// The word as a shell takes it.
std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "_-+=./,:%@") == std::string::npos)
    return word;
  std::string out = "'";
  for (const char letter : word)
    out += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return out + "'";
}

/// The command that asks the same question again; the file names of this time are left out.
std::string command_line(const Options& options, const std::string& model) {
  std::string line = "weir price " + quoted(model);
  const auto add = [&](const char* flag, const std::optional<std::string>& value) {
    if (value) line += std::string(" ") + flag + " " + quoted(*value);
  };
  add("--workload", options.workload);
  add("--limits", options.limits);
  add("--arms", options.arms);
  add("--baseline", options.baseline);
  add("--worker", options.worker);
  if (options.quick) line += " --quick";
  if (options.decide) line += fmt::format(" --decide {}", *options.decide);
  if (options.seed) line += fmt::format(" --seed {}", *options.seed);
  return line;
}

Result<void> check_options(const Options& options, const Invocation& invocation) {
  if (options.output && options.output->empty())
    return fail(ErrorKind::kUsage, "--output", "is empty; name the report's file, such as price.md");
  if (options.worker && options.worker->empty())
    return fail(ErrorKind::kUsage, "--worker", "is empty; name a program that speaks the worker's protocol");
  if (invocation.command) {
    return fail(ErrorKind::kUsage, "--",
                "weir price prices weir's own runner; a command after -- is not accepted");
  }
  if (options.quick && options.decide)
    return fail(ErrorKind::kUsage, "--quick", "stands beside --decide: choose a screen or a decision");
  if (options.decide && !(*options.decide > 0 && *options.decide <= kLongestMinutes)) {
    return fail(ErrorKind::kUsage, "--decide",
                fmt::format("not a number of minutes above 0 and at most {:g}, such as 20: {:g}",
                            kLongestMinutes, *options.decide));
  }
  if (options.seed && *options.seed < 0)
    return fail(ErrorKind::kUsage, "--seed",
                fmt::format("not a number from 0 up, such as 7: {}", *options.seed));
  return {};
}

/// The limits of this process have no say here, because each arm sets its own. A bad one is still refused,
/// and so is a memory limit, because no arm sets one.
Result<limits::Inputs> checked_inputs(const Options& options, const std::string& model,
                                      const Invocation& invocation) {
  std::optional<std::filesystem::path> file;
  if (!options.worker) {
    auto found = llm::find_model(model);
    if (!found) return tl::unexpected(std::move(found.error()));
    file = std::move(*found);
  }
  limits::Inputs inputs = limit_inputs({}, file);
  const auto resolved = limits::resolve(inputs);
  if (!resolved) return tl::unexpected(resolved.error());
  if (const limits::Setting& memory = resolved->memory_limit; memory.mode == limits::Mode::kBytes)
    return fail(ErrorKind::kUsage, memory.source,
                "has no say here and would be passed over: arms set cache limits; leave it out for this run");
  note_warnings(invocation, resolved->warnings);
  if (resolved->cache_limit.source != limits::kLibraryDefault)
    note(invocation, resolved->cache_limit.source + " has no say here: each arm sets its own cache limit");
  return inputs;
}

std::map<std::string, std::string> allowed_variables(const limits::Variables& all) {
  std::map<std::string, std::string> allowed;
  for (const auto& [name, value] : all)
    for (const char* prefix : {"WEIR_", "MLX_", "OPENBLAS_", "OMP_"})
      if (name.rfind(prefix, 0) == 0) allowed.emplace(name, value);
  return allowed;
}

price::PriceRequest request_of(const Options& options, const std::string& model) {
  price::PriceRequest request;
  request.model = model;
  if (options.workload) request.workload = *options.workload;
  request.arms = {options.limits, options.arms, options.baseline};
  if (options.quick) request.budget = lab::Budget::kQuick;
  if (options.decide) {
    request.budget = lab::Budget::kDecide;
    request.minutes = *options.decide;
  }
  request.start_afresh = options.afresh;
  if (options.output) request.report = *options.output;
  request.worker = options.worker;
  request.seed = options.seed ? static_cast<std::uint64_t>(*options.seed) : drawn_seed();
  request.command = command_line(options, model);
  return request;
}

std::string sealed_text(const lab::Plan& plan, bool resumed) {
  const bool between = lab::design_of(plan.question) == lab::Design::kBetween;
  const int inner = between ? lab::records_per_start(plan) : plan.sizes.blocks_per_start;
  return fmt::format("{} plan {}: {} = {} × {}{}, and {} footprint starts for each of {} arms, baseline {}",
                     resumed ? "goes on with" : "sealed", lab::seal(plan).substr(0, 8),
                     between ? "blocks × starts" : "starts × blocks", plan.sizes.starts, inner,
                     between ? " (one arm a start: mlx and the pool cannot be switched in one process)" : "",
                     plan.sizes.footprint_starts_per_arm, plan.question.arms.size(), plan.question.baseline);
}

/// A seed is part of the plan: another one cannot be had from a plan that is already sealed.
void require_seed(const Options& options, const lab::Plan& plan) {
  if (!options.seed || plan.seed == static_cast<std::uint64_t>(*options.seed)) return;
  throw Failure(
      {ErrorKind::kUsage, "--seed",
       fmt::format("the unfinished plan {} has seed {}: add --new for another one, or leave --seed out",
                   lab::seal(plan).substr(0, 8), plan.seed)});
}

int verdict_code(lab::Verdict verdict) {
  switch (verdict) {
    case lab::Verdict::kShip:
      return 0;
    case lab::Verdict::kClose:
      return 1;
    case lab::Verdict::kInconclusive:
      return 2;
    case lab::Verdict::kVoid:
      return 3;
  }
  return exit_code(ErrorKind::kInternal);
}

void print_priced(const price::Priced& priced, const Options& options, const Invocation& invocation) {
  const std::string name = priced.report.parent_path() == std::filesystem::current_path()
                               ? priced.report.filename().string()
                               : priced.report.string();
  if (options.json) {
    print_result(lab::to_json(priced.result) + "\n");
    note(invocation, "report: " + name);
    return;
  }
  print_result(
      report::terminal_table(priced.result, {priced.stored_curve, name}, report::style_of(STDOUT_FILENO)));
}

Result<price::Priced> run_with_progress(const Options& options, const price::PriceRequest& request,
                                        price::Surroundings& around, const Invocation& invocation) {
  price::ProgressLines lines(::isatty(STDERR_FILENO) == 1, report::style_of(STDERR_FILENO), around.clock,
                             [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); });
  around.sealed = [&](const lab::Plan& plan, bool resumed) {
    if (resumed) require_seed(options, plan);
    if (!invocation.quiet) lines.say(sealed_text(plan, resumed));
  };
  if (!invocation.quiet) around.progress = [&](const lab::Progress& progress) { lines.show(progress); };
  around.interrupted = interrupt_requested;
  return price::price(request, around);
}

Result<int> run_price(const Options& options, const Invocation& invocation) {
  if (const auto checked = check_options(options, invocation); !checked)
    return tl::unexpected(checked.error());
  const std::string model = options.model.value_or(std::string(llm::kDefaultModel));
  const auto inputs = checked_inputs(options, model, invocation);
  if (!inputs) return tl::unexpected(inputs.error());
  SystemClock clock;
  price::Surroundings around{clock,
                             store::process_environment(),
                             std::filesystem::current_path(),
                             lab::workloads_folder(),
                             inputs->denominators,
                             allowed_variables(inputs->variables),
                             nullptr,
                             {},
                             {},
                             {}};
  const auto priced = run_with_progress(options, request_of(options, model), around, invocation);
  if (interrupt_requested() && (!priced || priced->interrupted)) {
    note(invocation, priced ? "interrupted: completed blocks are kept, and the same command goes on with them"
                            : "interrupted: no block was lost, and the same command goes on");
    return 0;
  }
  if (!priced) return tl::unexpected(priced.error());
  print_priced(*priced, options, invocation);
  return options.check ? verdict_code(priced->result.verdict) : 0;
}

std::vector<Flag> price_flags(Options& options) {
  return {
      {"--workload", "CELL", "churn, steady, short, or the path of a TOML file (churn)", &options.workload},
      {"--limits", "SIZE,...", "Cache limits to price (unset,64MiB,0)", &options.limits},
      {"--arms", "ALLOCATOR[:SIZE],...", "The same on mlx, mlx-policy or weir, such as weir,mlx-policy:64MiB",
       &options.arms},
      {"--baseline", "[ALLOCATOR:]SIZE",
       "What the others are compared with (unlimited; on mlx-policy where --arms begins with a pool's)",
       &options.baseline},
      {"--quick", "", "Under two minutes: a screen, never a verdict", &options.quick},
      {"--decide", "MINUTES", "Up to so many minutes, with three sealed looks", &options.decide},
      {"--new", "", "Seal a new plan instead of going on with an unfinished one", &options.afresh},
      {"--check", "", "Exit 0 for SHIP, 1 CLOSE, 2 INCONCLUSIVE, 3 VOID", &options.check},
      {"--json", "", "Print JSON instead of the table", &options.json},
      {"-o,--output", "FILE", "Name of the report (weir-price-PLAN.md here)", &options.output},
      {"--seed", "N", "The number behind the order of the run; otherwise drawn", &options.seed},
      {"--worker", "PROGRAM", "A program that speaks the worker's protocol; its curve is not stored",
       &options.worker},
  };
}

}  // namespace

Subcommand price_subcommand() {
  const auto options = std::make_shared<Options>();
  Subcommand subcommand;
  subcommand.name = "price";
  subcommand.summary =
      "What a cache limit or an allocator costs in speed and saves in memory, with a verdict";
  subcommand.example =
      "  weir price\n"
      "  weir price smollm2 --workload steady --limits 64MiB,256MiB --check --json > price.json\n"
      "  weir price --arms weir,weir:64MiB,mlx-policy:64MiB";
  subcommand.positionals = {{"MODEL",
                             "A known name (smollm2) or the path of a GGUF file",
                             &options->model,
                             false,
                             {std::string(llm::kDefaultModel)}}};
  subcommand.flags = price_flags(*options);
  subcommand.takes_command = true;  // Only to say why there is none.
  subcommand.run = [options](const Invocation& invocation) { return run_price(*options, invocation); };
  return subcommand;
}

}  // namespace weir::cli
