#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "lab/allocator.h"

namespace weir::lab {

/// What a worker said of one request.
struct RequestRecord {
  std::string name;
  std::int64_t prompt_tokens = 0, generated_tokens = 0;
  std::string finish_reason, ids_hash;
  double prefill_seconds = 0, decode_seconds = 0;
  friend bool operator==(const RequestRecord&, const RequestRecord&) = default;
};

/// One turn of an arm in a block.
struct TurnRecord {
  int arm = 0;  ///< Index into the plan's arms.
  bool second = false;
  Allocator allocator = Allocator::kMlx;       ///< Read back after the switch.
  std::optional<std::int64_t> in_force_bytes;  ///< Read back after the switch; nullopt: unlimited.
  std::int64_t retained_peak_bytes = 0;        ///< Over warm and measured requests.
  std::int64_t retained_bytes = 0;             ///< At rest after the last request.
  std::int64_t page_faults = 0;                ///< Of the measured requests.
  std::vector<RequestRecord> warm, measured;
  friend bool operator==(const TurnRecord&, const TurnRecord&) = default;
};

/// One completed block. In the between design: one process of a block of starts, `start` the block of starts,
/// `block` the process's place in it, and every turn of one arm.
struct BlockRecord {
  int start = 0, block = 0;
  std::vector<TurnRecord> turns;  ///< In running order.
  double seconds = 0;             ///< Of the block; with the process's start in the first block after it.
  friend bool operator==(const BlockRecord&, const BlockRecord&) = default;
};

/// One completed footprint start: a fresh process under one arm.
struct FootprintRecord {
  int index = 0, arm = 0;
  Allocator allocator = Allocator::kMlx;  ///< Read back.
  std::optional<std::int64_t> in_force_bytes;
  std::int64_t footprint_peak_high_bytes = 0, footprint_peak_low_bytes = 0;
  std::string footprint_peak_source;
  std::int64_t live_peak_bytes = 0, retained_peak_bytes = 0;
  std::int64_t retained_bytes = 0;  ///< At rest after the last request.
  std::int64_t page_faults = 0;
  std::vector<RequestRecord> requests;
  double seconds = 0;
  friend bool operator==(const FootprintRecord&, const FootprintRecord&) = default;
};

/// Why a start (between: a block of starts) was cut short, each time that happened. After two times it is
/// given up.
struct StartFailures {
  bool footprint = false;
  int index = 0;
  std::vector<std::string> messages;
  friend bool operator==(const StartFailures&, const StartFailures&) = default;
};
inline constexpr int kAttempts = 2;

/// Everything that an experiment has measured, in plan order. The analysis is a pure function of plan and
/// records.
struct Records {
  std::vector<FootprintRecord> footprints;
  std::vector<BlockRecord> blocks;
  std::vector<StartFailures> failures;
  friend bool operator==(const Records&, const Records&) = default;
};

[[nodiscard]] std::string to_json(const BlockRecord& record);
[[nodiscard]] std::string to_json(const FootprintRecord& record);
[[nodiscard]] std::string to_json(const StartFailures& failures);
[[nodiscard]] Result<BlockRecord> block_from_json(std::string_view json);
[[nodiscard]] Result<FootprintRecord> footprint_from_json(std::string_view json);
[[nodiscard]] Result<StartFailures> failures_from_json(std::string_view json);

}  // namespace weir::lab
