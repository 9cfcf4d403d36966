#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "govern/governor.h"
#include "ledger/layers.h"
#include "llm/llama.h"
#include "llm/sampler.h"
#include "llm/text/tokenizer.h"
#include "llm/text/vocabulary.h"

namespace weir::llm {

inline constexpr int kDefaultChunkTokens = 512;

/// One sequence to run. Ids come in, ids go out: text is the caller's business.
struct EngineRequest {
  std::vector<TokenId> prompt;  ///< At least one token.
  int max_tokens = 0;           ///< At least one.
  SamplingOptions sampling;
  bool ignore_eos = false;
  int chunk_tokens = kDefaultChunkTokens;  ///< Prompt tokens in one step.
};

struct EngineResult {
  std::vector<TokenId> tokens;  ///< Generated, without the one that ended the sequence.
  int drawn_tokens = 0;         ///< Generated, with it.
  std::string
      finish_reason;  ///< "stop" (end of sequence, or the callback said so), "length" or "interrupted".
  double prefill_seconds = 0;  ///< From the first prompt token to the first drawn one.
  double decode_seconds = 0;   ///< For the drawn_tokens - 1 that followed.
};

/// A model, resident, and the loop that runs it. Every call belongs to the thread that loaded it (MLX's
/// streams belong to their thread, and so do the Governor's calls). Marks its phases, tokens and requests in
/// the counters page.
class Engine {
 public:
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  /// Called with each token as it is drawn; false ends the sequence.
  using OnToken = std::function<bool(TokenId)>;

  /// Reads the header first: unsupported types, bad shapes and missing memory are refused before a weight is
  /// read. Weights that the hard cap refuses are kNoRoom.
  [[nodiscard]] static Result<std::unique_ptr<Engine>> load(const std::filesystem::path& path,
                                                            govern::Governor& governor);

  /// kUsage when prompt and answer do not fit the model's context, kNoRoom when their keys and values do not
  /// fit the machine or the hard cap refuses an allocation (the engine can go on). What was drawn before an
  /// interrupt is returned with finish_reason "interrupted".
  [[nodiscard]] Result<EngineResult> run(const EngineRequest& request, const OnToken& on_token);

  [[nodiscard]] const ModelSpec& spec() const noexcept { return llama_.spec(); }
  [[nodiscard]] const Tokenizer& tokenizer() const noexcept { return tokenizer_; }
  [[nodiscard]] const std::optional<std::string>& chat_template() const noexcept { return chat_template_; }
  [[nodiscard]] govern::Governor& governor() noexcept { return governor_; }
  /// The ledger of this process with MLX's counters and the engine's tags (weights, kv, workspace, other).
  /// Only at rest: it stalls the process for milliseconds.
  [[nodiscard]] Result<ledger::Layers> layers();

 private:
  Engine(Llama llama, Tokenizer tokenizer, std::optional<std::string> chat_template,
         govern::Governor& governor);
  [[nodiscard]] Result<void> check_request(const EngineRequest& request) const;
  [[nodiscard]] std::map<std::string, std::int64_t> tags(std::int64_t live_bytes) const;
  EngineResult run(const EngineRequest& request, KvCache& cache, const OnToken& on_token);
  TokenId prefill(const EngineRequest& request, KvCache& cache, Sampler& sampler);

  Llama llama_;
  Tokenizer tokenizer_;
  std::optional<std::string> chat_template_;
  govern::Governor& governor_;
  std::int64_t kv_bytes_ = 0;  ///< Of the sequence that runs; 0 at rest.
};

/// Bytes that the weights of this file take once resident (codes as stored, scales and biases as f32).
[[nodiscard]] std::int64_t resident_weight_bytes(const GgufFile& file);

}  // namespace weir::llm
