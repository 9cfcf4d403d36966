#include "cli/generate.h"

#include <unistd.h>
#include <cerrno>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/utf8.h"
#include "cli/allocator_flag.h"
#include "cli/limit_flags.h"
#include "cli/loaded_model.h"
#include "govern/blas_kernel.h"
#include "ledger/faults.h"
#include "ledger/layers_json.h"
#include "ledger/peak.h"
#include "limits/setting_json.h"
#include "llm/models.h"
#include "llm/text_run.h"
#include "wire/agent_settings.h"

namespace weir::cli {
namespace {

/// Scores take chunk x context x heads floats, and a step cannot be interrupted.
constexpr int kMostChunkTokens = 2048;

struct Options {
  std::optional<std::string> model;
  std::optional<std::string> prompt;
  std::optional<std::int64_t> tokens, top_k, seed, chunk;
  std::optional<double> temperature, top_p, min_p;
  std::vector<std::string> stops;
  std::optional<std::string> allocator;
  LimitFlags limits;
  bool raw = false, ignore_eos = false, json = false;
};

/// What one run measured, beside its text.
struct Measurement {
  llm::TextResult run;
  ledger::PeakFootprint peak;
  ledger::Layers layers;
  govern::Counters counters;
  std::int64_t page_faults = 0;
};

Result<int> whole(const char* flag, const std::optional<std::int64_t>& value, int absent, int least,
                  int most = std::numeric_limits<int>::max()) {
  if (!value) return absent;
  if (*value < least || *value > most)
    return fail(ErrorKind::kUsage, flag, fmt::format("must be from {} to {}: {}", least, most, *value));
  return static_cast<int>(*value);
}

/// All of stdin, up to what a tokenizer takes; a signal ends the wait.
Result<std::string> stdin_text() {
  std::string text;
  char part[65536];
  for (;;) {
    const ssize_t got = ::read(STDIN_FILENO, part, sizeof part);
    if (interrupt_requested()) return fail(ErrorKind::kUsage, "--prompt", "interrupted while reading stdin");
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error("stdin", "read the prompt", errno));
    if (got == 0) return text;
    text.append(part, static_cast<std::size_t>(got));
    if (text.size() > llm::Tokenizer::kMaxInputBytes)
      return fail(ErrorKind::kUsage, "--prompt", "stdin holds over 16 MiB; shorten it");
  }
}

Result<std::string> prompt_text(const Options& options) {
  if (!options.prompt)
    return fail(ErrorKind::kUsage, "--prompt", "is missing; for example -p \"Hello\", or -p - for stdin");
  const bool from_stdin = *options.prompt == "-";
  std::string text = *options.prompt;
  if (from_stdin) {
    auto piped = stdin_text();
    if (!piped) return piped;
    text = std::move(*piped);
  }
  if (text.empty()) {
    return fail(ErrorKind::kUsage, "--prompt",
                from_stdin ? "stdin is empty; -p - reads the prompt from there"
                           : "is empty; for example -p \"Hello\"");
  }
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Step step = first_utf8(rest);
    if (step.kind != Utf8Kind::kValid) {
      return fail(ErrorKind::kUsage, "--prompt",
                  fmt::format("is not UTF-8 at byte {}; convert it first, for example with iconv",
                              text.size() - rest.size()));
    }
    rest.remove_prefix(step.length);
  }
  return text;
}

Result<llm::TextRequest> text_request(const Options& options) {
  llm::TextRequest request;
  auto prompt = prompt_text(options);
  if (!prompt) return tl::unexpected(prompt.error());
  request.prompt = std::move(*prompt);
  request.raw = options.raw;
  request.stops = options.stops;
  const auto tokens = whole("-n", options.tokens, 256, 1);
  const auto top_k = whole("--top-k", options.top_k, 0, 0);
  const auto chunk = whole("--chunk", options.chunk, llm::kDefaultChunkTokens, 1, kMostChunkTokens);
  for (const auto* number : {&tokens, &top_k, &chunk})
    if (!*number) return tl::unexpected(number->error());
  if (options.seed && *options.seed < 0)
    return fail(ErrorKind::kUsage, "--seed", fmt::format("must be 0 or more: {}", *options.seed));
  for (const std::string& stop : options.stops)
    if (stop.empty())
      return fail(ErrorKind::kUsage, "--stop", "is empty; name the text that ends the answer");
  request.engine.max_tokens = *tokens;
  request.engine.chunk_tokens = *chunk;
  request.engine.ignore_eos = options.ignore_eos;
  request.engine.sampling = {options.temperature.value_or(0), *top_k, options.top_p.value_or(1),
                             options.min_p.value_or(0), static_cast<std::uint64_t>(options.seed.value_or(0))};
  if (auto valid = llm::validate(request.engine.sampling); !valid) return tl::unexpected(valid.error());
  return request;
}

std::optional<double> rate(int tokens, double seconds) {
  if (tokens < 1 || seconds <= 0) return std::nullopt;
  return tokens / seconds;
}

std::optional<double> prefill_rate(const llm::TextResult& run) {
  return rate(run.engine.drawn_tokens > 0 ? run.prompt_tokens : 0, run.engine.prefill_seconds);
}

std::optional<double> decode_rate(const llm::TextResult& run) {
  return rate(run.engine.drawn_tokens - 1, run.engine.decode_seconds);
}

nlohmann::json or_null(const std::optional<double>& value) {
  return value ? nlohmann::json(*value) : nullptr;
}

std::string as_json(const Measurement& measured, const limits::Resolved& limits, wire::Allocator allocator) {
  const nlohmann::json json = {
      {"text", measured.run.text},
      {"prompt_tokens", measured.run.prompt_tokens},
      {"generated_tokens", measured.run.engine.drawn_tokens},
      {"finish_reason", measured.run.engine.finish_reason},
      {"prefill_tokens_per_second", or_null(prefill_rate(measured.run))},
      {"decode_tokens_per_second", or_null(decode_rate(measured.run))},
      {"footprint_peak_bytes", measured.peak.high_bytes},
      {"footprint_peak_low_bytes", measured.peak.low_bytes},
      {"footprint_peak_source", measured.peak.source},
      {"live_peak_bytes", measured.counters.live_peak_bytes},
      {"retained_peak_bytes", measured.counters.retained_peak_bytes},
      {"retained_bytes", measured.counters.retained_bytes},
      {"page_faults", measured.page_faults},
      {"allocator", wire::allocator_name(allocator)},
      {"limits", limits::to_json(limits)},
      {"layers", ledger::to_json(measured.layers)},
      {"library", library_name()},
      {"blas", blas_name()},
  };
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string speed_text(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f} tok/s", *rate) : "-";
}

std::string bytes_text(const ledger::Bytes& bytes) {
  return bytes ? short_bytes(*bytes) : "unknown";
}

/// The counter alone; the whole sentence, with what makes the width, is in the JSON.
std::string peak_counter(const std::string& source) {
  return source.substr(0, source.find(" less"));
}

void note_statistics(const Invocation& invocation, const Measurement& measured) {
  const auto& run = measured.run;
  const auto& layers = measured.layers;
  note(invocation, fmt::format("prompt {} tokens, {} · generated {} tokens, {} · finish reason {}",
                               run.prompt_tokens, speed_text(prefill_rate(run)), run.engine.drawn_tokens,
                               speed_text(decode_rate(run)), run.engine.finish_reason));
  note(invocation,
       fmt::format("footprint peak {} to {} ({}) · live peak {} · page faults {}",
                   short_bytes(measured.peak.low_bytes), short_bytes(measured.peak.high_bytes),
                   peak_counter(measured.peak.source), short_bytes(measured.counters.live_peak_bytes),
                   with_commas(measured.page_faults)));
  note(invocation,
       fmt::format(
           "footprint {} = live {} + retained {}{} + heap idle {} + identified {} + unexplained {}; file {}",
           bytes_text(layers.footprint), bytes_text(layers.live), bytes_text(layers.retained),
           layers.untouched.value_or(0) != 0 ? " − untouched " + bytes_text(layers.untouched) : "",
           bytes_text(layers.heap_idle), bytes_text(layers.identified), bytes_text(layers.unexplained),
           bytes_text(layers.file)));
}

Result<Measurement> measure(llm::Engine& engine, const llm::TextRequest& request, bool stream) {
  Measurement measured;
  engine.governor().reset_peaks();
  auto peak = ledger::PeakMeter::start(ledger::FileMappings::kStay);
  const ledger::Faults before = ledger::own_faults();
  auto run = llm::run_text(engine, request, [&](std::string_view piece) {
    if (stream) stream_result(piece);
  });
  if (!run) return tl::unexpected(run.error());
  const ledger::Faults after = ledger::own_faults();
  measured.page_faults = after.minor + after.major - before.minor - before.major;
  measured.run = std::move(*run);
  measured.counters = engine.governor().sample();
  measured.peak = peak.read();
  auto layers = engine.layers();
  if (!layers) return tl::unexpected(layers.error());
  measured.layers = std::move(*layers);
  return measured;
}

wire::Allocator wanted_allocator(const Options& options) {
  return named_allocator(options.allocator, wire::Allocator::kWeir);
}

Result<limits::Resolved> resolved_limits(const Options& options, const std::string& model,
                                         const LimitsHooks& hooks) {
  const wire::Allocator allocator = allocator_here(wanted_allocator(options));
  auto path = llm::find_model(model);
  if (!path) return tl::unexpected(path.error());
  limits::Inputs inputs = limit_inputs(options.limits, *path);
  inputs.backend = &rules_of(allocator);
  if (hooks.auto_answer) inputs.auto_answer = [&] { return hooks.auto_answer(model, allocator); };
  auto resolved = limits::resolve(inputs);
  if (!resolved) return resolved;
  if (auto kept = govern::require_enforceable(*resolved, allocator); !kept)
    return tl::unexpected(kept.error());
  return resolved;
}

Result<int> run_generate(const Options& options, const LimitsHooks& hooks, const Invocation& invocation) {
  govern::choose_blas_kernel();  // before stdin is read: it may start this process anew
  const std::string name = options.model.value_or(std::string(llm::kDefaultModel));
  const auto limits = resolved_limits(options, name, hooks);
  if (!limits) return tl::unexpected(limits.error());
  auto request = text_request(options);
  if (!request) return tl::unexpected(request.error());
  auto model = load_model(invocation, name, {wanted_allocator(options), limits->memory_limit});
  if (!model) return tl::unexpected(model.error());
  note_warnings(invocation, limits->warnings);
  apply_limits(invocation, *model->governor, *limits);
  const auto measured = measure(*model->engine, *request, !options.json);
  if (!measured) return tl::unexpected(measured.error());
  stream_result(options.json ? as_json(*measured, *limits, model->governor->allocator()) : "\n");
  if (!options.json) note_statistics(invocation, *measured);
  return 0;
}

std::vector<Flag> generate_flags(Options& options) {
  std::vector<Flag> flags = {
      {"-p,--prompt", "TEXT", "What to say to the model; - reads it from stdin", &options.prompt},
      {"-n,--tokens", "N", "Most tokens to generate (256)", &options.tokens},
      {"--raw", "", "Send the prompt as it is, without the model's chat template", &options.raw},
      {"--ignore-eos", "", "Go on after the end of the sequence, up to -n tokens", &options.ignore_eos},
      {"--temperature", "T", "0 draws the most likely token (0)", &options.temperature},
      {"--top-k", "K", "Draw among the K likeliest tokens; 0: all (0)", &options.top_k},
      {"--top-p", "P", "Draw among the likeliest tokens that hold this mass (1)", &options.top_p},
      {"--min-p", "P", "Drop tokens below this share of the likeliest (0)", &options.min_p},
      {"--seed", "S", "Seed of the draw (0)", &options.seed},
      {"--stop", "TEXT", "End the answer before this text; may be given more than once", &options.stops},
      {"--chunk", "N", "Prompt tokens in one step, at most 2048 (512)", &options.chunk},
  };
  flags.push_back(allocator_flag(options.allocator));
  for (Flag& flag : limit_flags(options.limits))
    flags.push_back(std::move(flag));
  flags.push_back({"--json", "", "Print one JSON object instead of the text", &options.json});
  return flags;
}

}  // namespace

Subcommand generate_subcommand(LimitsHooks hooks) {
  const auto options = std::make_shared<Options>();
  Subcommand subcommand;
  subcommand.name = "generate";
  subcommand.summary = "Run a model once: text, speeds, and where every byte is";
  subcommand.example =
      "  weir generate smollm2 -p \"What is the capital of France?\" -n 24\n"
      "  weir generate model.gguf -p - --cache-limit 64MiB --json < prompt.txt";
  subcommand.positionals = {{"MODEL",
                             "A known name (smollm2) or the path of a GGUF file",
                             &options->model,
                             false,
                             {std::string(llm::kDefaultModel)}}};
  subcommand.flags = generate_flags(*options);
  subcommand.run = [options, hooks = std::move(hooks)](const Invocation& invocation) {
    return run_generate(*options, hooks, invocation);
  };
  return subcommand;
}

}  // namespace weir::cli
