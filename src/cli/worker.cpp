#include "cli/worker.h"

#include <unistd.h>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/sha256.h"
#include "cli/loaded_model.h"
#include "cli/machine_name.h"
#include "govern/blas_kernel.h"
#include "govern/process_governor.h"
#include "lab/worker_protocol.h"
#include "ledger/faults.h"
#include "ledger/heap.h"
#include "ledger/layers_json.h"
#include "ledger/peak.h"
#include "pool/pool.h"

namespace weir::cli {
namespace {

limits::Setting as_setting(const lab::ArmLimit& limit) {
  limits::Setting setting;
  if (limit.kind == lab::ArmLimit::Kind::kUnlimited) setting.mode = limits::Mode::kUnlimited;
  if (limit.kind == lab::ArmLimit::Kind::kBytes) {
    setting.mode = limits::Mode::kBytes;
    setting.bytes = limit.bytes;
  }
  return setting;
}

/// The prompt as exactly `count` tokens: the text's own, from its start, again and again.
Result<std::vector<llm::TokenId>> cut_prompt(const llm::Tokenizer& tokenizer, const std::string& text,
                                             std::size_t count) {
  auto tokens = tokenizer.encode(text, false);
  if (!tokens) return tokens;
  if (tokens->empty()) return fail(ErrorKind::kUsage, "text", "holds no token");
  const std::size_t own = tokens->size();
  while (tokens->size() < count)
    tokens->push_back((*tokens)[tokens->size() - own]);
  tokens->resize(count);
  return tokens;
}

std::string hash_of(const std::vector<llm::TokenId>& ids) {
  std::string text;
  for (const llm::TokenId id : ids)
    text += std::to_string(id) + ",";
  return sha256_hex(text).substr(0, 16);
}

/// The largest value that retained bytes had since the last reset: the pool's own counter knows every moment,
/// of MLX's own allocator only those are known at which the governor looked.
std::int64_t retained_peak(const govern::Counters& counters) {
  pool::Pool* const pool = govern::process_pool();
  return pool == nullptr ? counters.retained_peak_bytes
                         : static_cast<std::int64_t>(pool->counters().retained_peak);
}

/// Answers requests on the engine's thread until stdin closes.
class Worker {
 public:
  Worker(LoadedModel model, std::string name, std::string sha256)
      : model_(std::move(model)),
        name_(std::move(name)),
        sha256_(std::move(sha256)),
        peak_(ledger::PeakMeter::start(ledger::FileMappings::kStay)),
        window_start_(ledger::own_faults()) {}

  [[nodiscard]] Result<lab::WorkerEvent> ready() {
    auto layers = model_.engine->layers();
    if (!layers) return tl::unexpected(layers.error());
    lab::ReadyEvent event;
    event.protocol = lab::kWorkerProtocol;
    event.pid = ::getpid();
    event.model_name = name_;
    event.model_sha256 = sha256_;
    event.model_bytes = static_cast<std::int64_t>(std::filesystem::file_size(model_.path));
    event.backend = "mlx-cpu";
    event.library = library_name();
    event.blas = blas_name();
    event.machine = machine_name();
    event.threads = govern::blas_threads();
    event.allocator = model_.governor->allocator();
    event.layers_json = ledger::to_json(*layers).dump();
    return event;
  }

  [[nodiscard]] Result<lab::WorkerEvent> answer(const lab::SwitchRequest& request) {
    const auto start = SystemClock().now();
    if (auto switched = model_.governor->set_allocator(request.allocator); !switched)
      return tl::unexpected(switched.error());
    const govern::LimitChange change = model_.governor->set_cache_limit(as_setting(request.cache_limit));
    const std::int64_t dropped = model_.governor->trim_and_return();
    return lab::SwitchedEvent{change.previous_bytes, change.in_force_bytes, change.trimmed_bytes + dropped,
                              seconds(SystemClock().now() - start), model_.governor->allocator()};
  }

  [[nodiscard]] Result<lab::WorkerEvent> answer(const lab::GenerateRequest& request) {
    llm::EngineRequest run;
    auto prompt =
        cut_prompt(model_.engine->tokenizer(), request.text, static_cast<std::size_t>(request.prompt_tokens));
    if (!prompt) return tl::unexpected(prompt.error());
    run.prompt = std::move(*prompt);
    run.max_tokens = static_cast<int>(request.generate_tokens);
    run.ignore_eos = true;
    const ledger::Faults before = ledger::own_faults();
    auto result = model_.engine->run(run, [](llm::TokenId) { return true; });
    const ledger::Faults after = ledger::own_faults();
    if (!result) return tl::unexpected(result.error());
    const govern::Counters counters = model_.governor->sample();
    peak_.observe();
    lab::GeneratedEvent event;
    event.name = request.name;
    event.prompt_tokens = request.prompt_tokens;
    event.generated_tokens = result->drawn_tokens;
    event.finish_reason = result->finish_reason;
    event.ids_hash = hash_of(result->tokens);
    event.prefill_seconds = result->prefill_seconds;
    event.decode_seconds = result->decode_seconds;
    event.live_peak_bytes = counters.live_peak_bytes;
    event.retained_peak_bytes = retained_peak(counters);
    event.retained_bytes = counters.retained_bytes;
    event.live_bytes = counters.live_bytes;
    event.minor_faults = after.minor - before.minor;
    event.major_faults = after.major - before.major;
    return event;
  }

  [[nodiscard]] Result<lab::WorkerEvent> answer(const lab::MeasureRequest& request) {
    const ledger::PeakFootprint peak = peak_.read();
    const govern::Counters counters = model_.governor->sample();
    const ledger::Faults now = ledger::own_faults();
    auto layers = model_.engine->layers();
    if (!layers) return tl::unexpected(layers.error());
    lab::MeasuredEvent event;
    event.footprint_peak_high_bytes = peak.high_bytes;
    event.footprint_peak_low_bytes = peak.low_bytes;
    event.footprint_peak_source = peak.source;
    event.live_peak_bytes = counters.live_peak_bytes;
    event.retained_peak_bytes = retained_peak(counters);
    event.minor_faults = now.minor - window_start_.minor;
    event.major_faults = now.major - window_start_.major;
    event.layers_json = ledger::to_json(*layers).dump();
    if (request.reset) {
      model_.governor->reset_peaks();
      if (pool::Pool* const pool = govern::process_pool()) pool->reset_peaks();
      peak_ = ledger::PeakMeter::start(ledger::FileMappings::kStay);
      window_start_ = ledger::own_faults();
    }
    return event;
  }

 private:
  LoadedModel model_;
  std::string name_, sha256_;
  ledger::PeakMeter peak_;
  ledger::Faults window_start_;
};

void send(const Result<lab::WorkerEvent>& event) {
  const std::string line =
      event ? lab::to_line(*event)
            : lab::to_line(lab::WorkerEvent(lab::ErrorEvent{event.error().kind, describe(event.error())}));
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// False once the worker was asked to quit.
bool handle(Worker& worker, const std::string& line) {
  const auto request = lab::parse_request(line);
  if (!request) {
    send(tl::unexpected(request.error()));
    return true;
  }
  return std::visit(
      [&](const auto& wanted) {
        if constexpr (std::is_same_v<std::decay_t<decltype(wanted)>, lab::QuitRequest>) {
          return false;
        } else {
          send(worker.answer(wanted));
          return true;
        }
      },
      *request);
}

struct Options {
  std::optional<std::string> model, allocator;
};

Result<int> run_worker(const Options& options, const Invocation& invocation) {
  govern::choose_blas_kernel();  // before stdin is read: it may start this process anew
  const std::string& name = options.model.value();
  const auto allocator = lab::allocator_from_name(options.allocator.value_or("mlx"));
  auto model = load_model(invocation, name, {allocator.value_or(lab::Allocator::kMlx), {}});
  if (!model) return tl::unexpected(model.error());
  const auto file = ReadOnlyFile::open(model->path);
  if (!file) return tl::unexpected(file.error());
  auto sha256 = sha256_hex(*file);
  if (!sha256) return tl::unexpected(sha256.error());
  Worker worker(std::move(*model), name, std::move(*sha256));
  send(worker.ready());
  std::string line;
  while (std::getline(std::cin, line))
    if (!handle(worker, line)) break;
  return 0;
}

}  // namespace

Subcommand worker_subcommand() {
  const auto options = std::make_shared<Options>();
  Subcommand subcommand;
  subcommand.name = "worker";
  subcommand.summary = "Serve the laboratory over stdin and stdout, one JSON line each way";
  subcommand.positionals = {{"MODEL", "A known name or the path of a GGUF file", &options->model, true, {}}};
  subcommand.flags = {{"--allocator",
                       "ALLOCATOR",
                       "What answers MLX; a switch may put another of the pool's in its place (mlx)",
                       &options->allocator,
                       {"mlx", "mlx-policy", "weir"}}};
  subcommand.hidden = true;
  subcommand.run = [options](const Invocation& invocation) { return run_worker(*options, invocation); };
  return subcommand;
}

}  // namespace weir::cli
