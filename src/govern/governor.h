#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/error.h"
#include "govern/mlx_memory.h"
#include "ledger/own_layers.h"
#include "limits/setting.h"
#include "wire/counters_page.h"

namespace weir::govern {

struct OverPool;

/// What one change of a limit did. nullopt is unlimited.
struct LimitChange {
  std::optional<std::int64_t> previous_bytes;
  std::optional<std::int64_t> in_force_bytes;  ///< Read back, not repeated from the request.
  std::int64_t trimmed_bytes = 0;              ///< Retained bytes that the change dropped.
};

/// The allocator's counters, read together between steps.
struct Counters {
  std::int64_t live_bytes = 0;
  std::int64_t retained_bytes = 0;
  std::int64_t live_peak_bytes = 0;      ///< Since the last reset.
  std::int64_t retained_peak_bytes = 0;  ///< Largest value that `sample` saw since the last reset.
};

/// Owner of the limits of this process, for weir's own runner. With MLX's own allocator it is the sole caller
/// of MLX's memory functions; with a pool it asks the pool, which waits for no stream of MLX. Belongs to the
/// thread that made it (the engine's): MLX synchronizes its streams inside its functions and hands over a
/// worker's pending error, so a call from elsewhere is a bug of ours and fails a check. One per process.
class Governor {
 public:
  explicit Governor(IMlxMemory& memory);
  /// Over the pool that answers MLX. What is set here is the program's part beside the one of a `weir run`
  /// around it: the smaller is in force.
  explicit Governor(OverPool& pool);
  /// Over what answers MLX in this process: its pool, or MLX's own functions.
  [[nodiscard]] static std::unique_ptr<Governor> of_process();
  Governor(const Governor&) = delete;
  Governor& operator=(const Governor&) = delete;

  /// Sets the limit, drops what is retained above it, and reads the limit back. `unset` puts back the default
  /// of the allocator.
  LimitChange set_cache_limit(const limits::Setting& setting);
  /// Sets the hard cap: kUsage with MLX's own allocator where it is a number, because that one keeps none.
  Result<LimitChange> set_memory_limit(const limits::Setting& setting);
  /// Switches between `mlx-policy` and `weir`, live; the limits stay, `unset` means the new one's default.
  /// MLX's own allocator and the pool cannot take over from each other: kUsage.
  Result<void> set_allocator(wire::Allocator allocator);
  [[nodiscard]] wire::Allocator allocator() const noexcept;
  /// Drops every retained byte; returns how many.
  std::int64_t trim();
  /// trim(), then hands free heap pages back to the kernel (malloc_trim); returns the retained bytes dropped.
  std::int64_t trim_and_return();
  /// Counters now; also raises the retained peak. Costs a few reads, no synchronization.
  Counters sample();
  /// The same for the ledger: without tags.
  [[nodiscard]] ledger::AllocatorCounters ledger_counters();
  /// Of `sample`; what the counters page tells others goes on.
  void reset_peaks();
  [[nodiscard]] std::optional<std::int64_t> cache_limit_bytes() const noexcept;

 private:
  void check_thread() const;
  std::uint64_t read_back();
  std::uint64_t set_cache_limit(std::optional<std::uint64_t> bytes);
  std::uint64_t retained();

  IMlxMemory* memory_ = nullptr;  // either
  OverPool* pool_ = nullptr;      // or
  std::thread::id owner_;
  std::uint64_t library_default_ = 0;  // of MLX's own allocator
  std::uint64_t in_force_ = 0;
  std::int64_t retained_peak_bytes_ = 0;
};

/// Whether this allocator can keep the settings: a number for the memory limit is kUsage with MLX's own,
/// whose memory limit refuses no allocation on this backend.
[[nodiscard]] Result<void> require_enforceable(const limits::Resolved& limits, wire::Allocator allocator);

}  // namespace weir::govern
