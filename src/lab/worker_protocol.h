#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"
#include "lab/arm_limit.h"

namespace weir::lab {

/// JSON lines between the lab and a worker (`weir worker MODEL`, or any program that speaks this): the worker
/// sends `ready` unasked, then one reply to each request, in order. A failure is an `error` reply and leaves
/// the worker alive; it ends when its stdin closes. Lines are at most 1 MiB. Unknown keys are ignored, so
/// that either side may grow; missing keys, wrong types, negative counts and non-finite numbers are kBadData.
inline constexpr int kWorkerProtocol = 1;
inline constexpr std::size_t kMaxLineBytes = 1u << 20;
inline constexpr std::int64_t kMaxTokens = 1 << 20;

/// Sets the cache limit, then trims and gives the heap's free pages back.
struct SwitchRequest {
  ArmLimit cache_limit;
};
/// Runs `prompt_tokens` tokens cut from `text` (repeated as needed), then exactly `generate_tokens` greedy
/// ones.
struct GenerateRequest {
  std::string name;
  std::string text;
  std::int64_t prompt_tokens = 0;
  std::int64_t generate_tokens = 0;
};
/// Reads layers and peaks; with `reset` peaks and fault counts start over after the reading.
struct MeasureRequest {
  bool reset = false;
};
struct QuitRequest {};
using WorkerRequest = std::variant<SwitchRequest, GenerateRequest, MeasureRequest, QuitRequest>;

struct ReadyEvent {
  int protocol = 0;
  std::int64_t pid = 0;
  std::string model_name, model_sha256;
  std::int64_t model_bytes = 0;
  std::string backend, library, blas, machine;
  int threads = 0;
  std::string layers_json;  ///< The contract's `layers` object; "" writes an empty one.
};
struct SwitchedEvent {
  std::optional<std::int64_t> previous_bytes;  ///< nullopt: unlimited.
  std::optional<std::int64_t> in_force_bytes;  ///< Read back from the library; nullopt: unlimited.
  std::int64_t trimmed_bytes = 0;
  double seconds = 0;
};
struct GeneratedEvent {
  std::string name;
  std::int64_t prompt_tokens = 0, generated_tokens = 0;
  std::string finish_reason;
  std::string ids_hash;
  double prefill_seconds = 0;  ///< Prompt in to first token out.
  double decode_seconds = 0;   ///< The generated_tokens - 1 tokens after the first.
  std::int64_t live_peak_bytes = 0, retained_peak_bytes = 0;  ///< Since the last reset.
  std::int64_t retained_bytes = 0, live_bytes = 0;            ///< At rest, after the request.
  std::int64_t minor_faults = 0, major_faults = 0;            ///< Of this request.
};
struct MeasuredEvent {
  std::int64_t footprint_peak_high_bytes = 0, footprint_peak_low_bytes = 0;
  std::string footprint_peak_source;
  std::int64_t live_peak_bytes = 0, retained_peak_bytes = 0;
  std::int64_t minor_faults = 0, major_faults = 0;  ///< Since the last reset.
  std::string layers_json;  ///< The contract's `layers` object; "" writes an empty one.
};
struct ErrorEvent {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
};
using WorkerEvent = std::variant<ReadyEvent, SwitchedEvent, GeneratedEvent, MeasuredEvent, ErrorEvent>;

/// One line without its newline. Text that is not UTF-8 is replaced, never thrown on.
[[nodiscard]] std::string to_line(const WorkerRequest& request);
[[nodiscard]] std::string to_line(const WorkerEvent& event);

[[nodiscard]] Result<WorkerRequest> parse_request(std::string_view line);
[[nodiscard]] Result<WorkerEvent> parse_event(std::string_view line);

}  // namespace weir::lab
