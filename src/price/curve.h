#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "lab/result.h"
#include "limits/resolve.h"
#include "report/style.h"
#include "store/store.h"

namespace weir::price {

/// Whose curve: verdicts of another model, machine or library say nothing here. The curve holds every
/// allocator's limits, each entry with its own.
struct CurveKey {
  std::string model_sha256;
  std::string machine;
  std::string library;
};

/// One stored limit of one cell.
struct CurveEntry {
  std::string cell, arm;
  lab::Allocator allocator = lab::Allocator::kMlx;
  lab::ArmLimit cache_limit;
  bool is_baseline = false;
  std::string verdict;  ///< "SHIP", …; "BASELINE" for the baseline.
  std::string reason;
  std::optional<std::int64_t> footprint_peak_bytes, saved_bytes, saved_lower_bytes;
  std::optional<double> decode_ratio, decode_lower, prefill_ratio, prefill_lower;
  std::int64_t measured_at = 0;
  std::string seal;
};

/// The newest entry of each cell and arm for this key: by cell, allocator, then limit, unlimited last. A
/// point that cannot be read is kBadData.
[[nodiscard]] Result<std::vector<CurveEntry>> stored_curve(const store::Store& store, const CurveKey& key);

/// The curve as lines for `weir limits`: footprint, change of speed with its bound, verdict, age and cell of
/// each limit, with its allocator where that is not MLX's own; "" for an empty curve. Entries too old to
/// count are marked.
[[nodiscard]] std::string curve_text(std::span<const CurveEntry> curve, std::int64_t now,
                                     const report::Style& style);

/// The same as a JSON array of objects: cell, arm, allocator, cache_limit_bytes, footprint_peak_bytes,
/// saved_bytes, saved_lower_bytes, decode_ratio, decode_lower, prefill_ratio, prefill_lower, verdict, reason,
/// measured_at, age_seconds, fresh, seal.
[[nodiscard]] std::string curve_json(std::span<const CurveEntry> curve, std::int64_t now);

/// What `auto` means on an allocator: the smallest limit with a fresh SHIP in every cell of that allocator's
/// curve, `unset` and `unlimited` among them at the bytes they stand for; nullopt when no limit has. Another
/// allocator's entries have no say.
[[nodiscard]] std::optional<limits::AutoAnswer> auto_answer(std::span<const CurveEntry> curve,
                                                            std::int64_t now,
                                                            lab::Allocator allocator = lab::Allocator::kMlx);

}  // namespace weir::price
