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
///
/// Protocol 2 names allocators: the worker is started with `--allocator A` (left out for `mlx`), says in
/// `ready` which one answers it, takes one in `switch` and reads one back in `switched`. Where a line names
/// none it is `mlx`; so protocol 1, which knows none, is still spoken with, for arms on `mlx`.
inline constexpr int kWorkerProtocol = 2;
inline constexpr int kOldestWorkerProtocol = 1;
inline constexpr std::size_t kMaxLineBytes = 1u << 20;
inline constexpr std::int64_t kMaxTokens = 1 << 20;

/// Puts an allocator in force (one of the pool's for another; MLX's own cannot be left or entered), sets the
/// cache limit, then trims and gives the heap's free pages back.
struct SwitchRequest {
  Allocator allocator = Allocator::kMlx;
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
  Allocator allocator = Allocator::kMlx;  ///< Which one answers MLX in this process now.
  std::string layers_json;                ///< The contract's `layers` object; "" writes an empty one.
};
struct SwitchedEvent {
  std::optional<std::int64_t> previous_bytes;  ///< nullopt: unlimited.
  std::optional<std::int64_t> in_force_bytes;  ///< Read back from the allocator; nullopt: unlimited.
  std::int64_t trimmed_bytes = 0;
  double seconds = 0;
  Allocator allocator = Allocator::kMlx;  ///< Read back.
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
