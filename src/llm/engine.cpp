#include "llm/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>

#include "base/byte_text.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "govern/marks.h"
#include "ledger/machine_memory.h"
#include "ledger/own_layers.h"
#include "llm/gguf/blocks.h"
#include "llm/text/gguf_vocabulary.h"
#include "pool/hard_cap.h"

namespace weir::llm {

namespace mx = mlx::core;

namespace {

Result<void> require_room(const std::string& where, const std::string& what, std::int64_t needed_bytes) {
  const auto memory = ledger::machine_memory();
  if (!memory || needed_bytes <= memory->free_bytes()) return {};
  return fail(
      ErrorKind::kNoRoom, where,
      what + " needs " + exact_bytes(needed_bytes) + ", free are " + exact_bytes(memory->free_bytes()));
}

std::span<const float> last_row(const mx::array& logits) {
  const auto width = static_cast<std::size_t>(logits.shape(1));
  return {logits.data<float>() + width * static_cast<std::size_t>(logits.shape(0) - 1), width};
}

/// Weights that hold NaN or infinity give logits that are no numbers: no token can be drawn from them.
void require_numbers(std::span<const float> logits) {
  for (const float value : logits) {
    if (std::isnan(value))
      throw Failure(
          {ErrorKind::kBadData, "model", "computes NaN: its weights are damaged; use another file"});
  }
}

TokenId draw(Sampler& sampler, const mx::array& logits) {
  const auto row = last_row(logits);
  require_numbers(row);
  return sampler.draw(row);
}

/// What the hard cap refused, as an error of this request alone.
tl::unexpected<Error> no_room(const std::string& where, const pool::OverLimit& refusal) {
  std::string_view sum = refusal.what();
  constexpr std::string_view kOwnName = "weir: ";
  if (sum.starts_with(kOwnName)) sum.remove_prefix(kOwnName.size());
  return fail(ErrorKind::kNoRoom, where, std::string(sum));
}

Result<Weights> weights_within_cap(const GgufFile& file, const ModelSpec& spec) {
  try {
    return load_weights(file, spec);
  } catch (const pool::OverLimit& refusal) {
    return no_room("load", refusal);
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return seconds(std::chrono::steady_clock::now() - start);
}

}  // namespace

std::int64_t resident_weight_bytes(const GgufFile& file) {
  std::int64_t bytes = 0;
  for (const TensorInfo& tensor : file.tensors()) {
    const auto elements = static_cast<std::int64_t>(tensor.elements());
    const int bits = affine_bits(tensor.type);
    bytes +=
        bits == 0 ? static_cast<std::int64_t>(tensor.size_bytes) : elements * bits / 8 + elements / 32 * 8;
  }
  return bytes;
}

Engine::Engine(Llama llama, Tokenizer tokenizer, std::optional<std::string> chat_template,
               govern::Governor& governor)
    : llama_(std::move(llama)),
      tokenizer_(std::move(tokenizer)),
      chat_template_(std::move(chat_template)),
      governor_(governor) {}

Engine::~Engine() {
  govern::mark_phase(wire::Phase::kUnload);
}

Result<std::unique_ptr<Engine>> Engine::load(const std::filesystem::path& path, govern::Governor& governor) {
  const auto file = GgufFile::open(path);
  if (!file) return tl::unexpected(file.error());
  if (auto supported = require_supported_types(*file); !supported) return tl::unexpected(supported.error());
  auto spec = model_spec_from(*file);
  if (!spec) return tl::unexpected(spec.error());
  auto vocabulary = vocabulary_from(*file);
  if (!vocabulary) return tl::unexpected(vocabulary.error());
  auto chat_template = vocabulary->chat_template;
  auto tokenizer = Tokenizer::create(std::move(*vocabulary));
  if (!tokenizer)
    return tl::unexpected(Error{ErrorKind::kBadData, path.string(), describe(tokenizer.error())});
  if (tokenizer->size() > static_cast<std::size_t>(spec->vocabulary))
    return fail(ErrorKind::kBadData, path.string(),
                "the tokenizer has " + std::to_string(tokenizer->size()) + " tokens, token_embd.weight " +
                    std::to_string(spec->vocabulary) + " rows");
  if (auto room = require_room(path.string(), "the model", resident_weight_bytes(*file)); !room)
    return tl::unexpected(room.error());
  const govern::PhaseMark loading(wire::Phase::kLoad);
  auto weights = weights_within_cap(*file, *spec);
  if (!weights) return tl::unexpected(weights.error());
  return std::unique_ptr<Engine>(new Engine(Llama(std::move(*spec), std::move(*weights)),
                                            std::move(*tokenizer), std::move(chat_template), governor));
}

Result<void> Engine::check_request(const EngineRequest& request) const {
  if (request.prompt.empty()) return fail(ErrorKind::kUsage, "prompt", "is empty; give at least one token");
  if (request.max_tokens < 1) return fail(ErrorKind::kUsage, "max tokens", "must be at least 1");
  if (request.chunk_tokens < 1) return fail(ErrorKind::kUsage, "--chunk", "must be at least 1");
  if (auto valid = validate(request.sampling); !valid) return valid;
  const auto total = static_cast<std::int64_t>(request.prompt.size()) + request.max_tokens;
  if (total > spec().context_tokens)
    return fail(ErrorKind::kUsage, "prompt",
                with_commas(static_cast<std::int64_t>(request.prompt.size())) + " tokens and " +
                    with_commas(request.max_tokens) + " to generate exceed the model's context of " +
                    with_commas(spec().context_tokens) + "; shorten the prompt or lower -n");
  return require_room("prompt", "the KV cache",
                      spec().kv_bytes_per_token() * KvCache::rounded_capacity(static_cast<int>(total)));
}

TokenId Engine::prefill(const EngineRequest& request, KvCache& cache, Sampler& sampler) {
  std::span<const TokenId> rest = request.prompt;
  for (;;) {
    const auto chunk = rest.first(std::min(rest.size(), static_cast<std::size_t>(request.chunk_tokens)));
    rest = rest.subspan(chunk.size());
    const mx::array logits = llama_.step(chunk, cache, rest.empty() ? LogitsOf::kLastToken : LogitsOf::kNone);
    governor_.sample();
    if (rest.empty()) return draw(sampler, logits);
    if (interrupt_requested()) return -1;
  }
}

Result<EngineResult> Engine::run(const EngineRequest& request, const OnToken& on_token) {
  if (auto valid = check_request(request); !valid) return tl::unexpected(valid.error());
  Result<EngineResult> result;
  const govern::RequestMark request_end;
  try {
    const govern::PhaseMark running(wire::Phase::kPrefill);
    KvCache cache(spec(), static_cast<int>(request.prompt.size()) + request.max_tokens);
    kv_bytes_ = cache.held_bytes();
    result = run(request, cache, on_token);
  } catch (const pool::OverLimit& refusal) {
    result = no_room("run", refusal);
  }
  kv_bytes_ = 0;
  governor_.sample();
  return result;
}

EngineResult Engine::run(const EngineRequest& request, KvCache& cache, const OnToken& on_token) {
  Sampler sampler(request.sampling);
  EngineResult result;
  result.finish_reason = "length";
  const auto start = std::chrono::steady_clock::now();
  TokenId token = prefill(request, cache, sampler);
  result.prefill_seconds = seconds_since(start);
  govern::mark_phase(wire::Phase::kDecode);
  const auto decode_start = std::chrono::steady_clock::now();
  for (;;) {
    if (token < 0 || interrupt_requested()) {
      result.finish_reason = "interrupted";
      break;
    }
    ++result.drawn_tokens;
    govern::mark_tokens();
    if (!request.ignore_eos && token == tokenizer_.eos()) {
      result.finish_reason = "stop";
      break;
    }
    result.tokens.push_back(token);
    if (!on_token(token)) {
      result.finish_reason = "stop";
      break;
    }
    if (result.drawn_tokens == request.max_tokens) break;
    token = draw(sampler, llama_.step({&token, 1}, cache, LogitsOf::kLastToken));
    governor_.sample();
  }
  result.decode_seconds = seconds_since(decode_start);
  return result;
}

Result<ledger::Layers> Engine::layers() {
  ledger::AllocatorCounters held = governor_.ledger_counters();
  held.tags = tags(held.live.value_or(0));
  return ledger::read_own_layers(held);
}

std::map<std::string, std::int64_t> Engine::tags(std::int64_t live_bytes) const {
  std::map<std::string, std::int64_t> tags;
  std::int64_t left = live_bytes;
  const auto take = [&](const char* tag, std::int64_t bytes) { left -= tags[tag] = std::min(bytes, left); };
  take("weights", llama_.weight_bytes());
  take("kv", kv_bytes_);
  take("other", 0);
  tags["workspace"] = left;
  return tags;
}

}  // namespace weir::llm
