#pragma once

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "base/error.h"
#include "govern/mlx_memory.h"
#include "limits/setting.h"

namespace weir::govern {

/// What one change of the cache limit did. nullopt is unlimited.
struct LimitChange {
  std::optional<std::int64_t> previous_bytes;
  std::optional<std::int64_t> in_force_bytes;  ///< Read back from MLX, not repeated from the request.
  std::int64_t trimmed_bytes = 0;              ///< Retained bytes that the change dropped.
};

/// MLX's counters, read together between steps.
struct Counters {
  std::int64_t live_bytes = 0;
  std::int64_t retained_bytes = 0;
  std::int64_t live_peak_bytes = 0;      ///< Since the last reset, by MLX.
  std::int64_t retained_peak_bytes = 0;  ///< Largest value that `sample` saw since the last reset.
};

/// Sole caller of MLX's memory functions in this process. Belongs to the thread that made it (the engine's):
/// MLX synchronizes its streams inside these functions and hands over a worker's pending error, so a call
/// from elsewhere is a bug of ours and fails a check. One per process.
class Governor {
 public:
  explicit Governor(IMlxMemory& memory);
  Governor(const Governor&) = delete;
  Governor& operator=(const Governor&) = delete;

  /// Sets the limit, drops what is retained above it, and reads the limit back. `unset` puts back the value
  /// that the library had when this Governor was made.
  LimitChange set_cache_limit(const limits::Setting& setting);
  /// Drops every retained byte; returns how many.
  std::int64_t trim();
  /// trim(), then hands free heap pages back to the kernel (malloc_trim); returns the retained bytes dropped.
  std::int64_t trim_and_return();
  /// Counters now; also raises the retained peak. Costs four reads of MLX's counters, no synchronization.
  Counters sample();
  void reset_peaks();
  /// The library's own cache limit, read once when this Governor was made.
  [[nodiscard]] std::int64_t library_default_bytes() const noexcept { return default_bytes_; }
  [[nodiscard]] std::optional<std::int64_t> cache_limit_bytes() const noexcept;

 private:
  void check_thread() const;
  std::uint64_t read_back();

  IMlxMemory& memory_;
  std::thread::id owner_;
  std::int64_t default_bytes_ = 0;
  std::uint64_t in_force_ = 0;
  std::int64_t retained_peak_bytes_ = 0;
};

/// Whether this setting can be kept before weir has its own pool: a byte value for the memory limit is
/// refused as kEnvironment, because MLX's own memory limit refuses no allocation on this backend.
[[nodiscard]] Result<void> require_enforceable(const limits::Resolved& limits);

}  // namespace weir::govern
