#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace weir::store {

/// Rows of the store. Payloads are JSON texts whose meaning the caller owns; times are Unix seconds (UTC).

enum class PlanState { kOpen, kComplete, kVoid };

/// An experiment written down before its first block. Everything but `state` is fixed once stored.
struct PlanRow {
  std::string seal;  ///< Hash of the canonical text, at least 8 characters.
  std::string
      question_hash;  ///< Equal for plans that ask the same question: how an unfinished one is found again.
  std::string canonical_json;
  std::string binary;  ///< Identity of the program that sealed it.
  std::int64_t sealed_at = 0;
  PlanState state = PlanState::kOpen;
};

enum class StartKind { kSpeed, kFootprint };

/// One fresh process of a plan; stored again under the same (seal, kind, index) when its status changes.
struct StartRow {
  std::string seal;
  StartKind kind = StartKind::kSpeed;
  int index = 0;
  std::string status;  ///< The caller's word, such as "running", "complete", "void".
  std::int64_t started_at = 0;
  std::string json;
};

/// One completed block of a start: stored whole or not at all, once, never changed.
struct BlockRow {
  std::string seal;
  StartKind kind = StartKind::kSpeed;
  int start_index = 0;
  int block_index = 0;
  std::int64_t completed_at = 0;
  std::string json;
};

/// What came out of a plan.
struct ResultRow {
  std::string seal;
  std::int64_t finished_at = 0;
  std::string json;
};

/// One limit of one curve, as predicted and measured.
struct CurvePoint {
  std::string model;
  std::string machine;
  std::string library;
  std::string cell;
  std::string arm;
  std::optional<std::int64_t> cache_limit_bytes;  ///< nullopt: unlimited.
  std::string verdict;
  std::string json;
  std::int64_t measured_at = 0;
  std::string seal;
};

/// How long a stored verdict counts: 90 days.
inline constexpr std::int64_t kFreshSeconds = 90 * 24 * 3600;

/// Whether a verdict measured then still counts now. One from more than a day ahead of the clock does not:
/// one of the two clocks is wrong.
[[nodiscard]] constexpr bool is_fresh(const CurvePoint& point, std::int64_t now_unix_seconds,
                                      std::int64_t limit_seconds = kFreshSeconds) noexcept {
  const std::int64_t age_seconds = now_unix_seconds - point.measured_at;
  return age_seconds <= limit_seconds && age_seconds >= -24 * 3600;
}

}  // namespace weir::store
