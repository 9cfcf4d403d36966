#pragma once

#include <atomic>
#include <cstdint>

#include "govern/act_log.h"
#include "govern/counted_mlx.h"
#include "govern/i_acts.h"
#include "govern/i_watch.h"

namespace weir::govern {

/// What can be done over MLX's own allocator (`mlx`). Its functions wait for MLX's streams and take over a
/// worker's pending error, so they run on one of MLX's callers at its next allocation: kPending. The C heap
/// is trimmed at once and again after that. Refused: a memory limit (MLX's refuses no allocation), an aged
/// trim (MLX keeps no ages), and in a fork's child all that waits for streams, whose threads are not there.
class MlxActs final : public IActs {
 public:
  /// All must outlive this.
  MlxActs(const weir_memory_table& real, CountedMlx& counted, MlxHostCalls& calls, const PageSlot& page);

  Effect set_limits(const WantedLimits& wanted) override;
  Effect trim() override;
  Effect trim_aged(std::uint64_t age_ms) override;
  Effect give_back() override;
  Effect reset_peak() override;
  [[nodiscard]] ledger::AllocatorCounters ledger_counters() override;

  /// Rung on the caller's thread when what was pending is done; before the first act.
  void on_done(std::function<void()> bell) { bell_ = std::move(bell); }
  /// In a fork's child: what its parent waits for is not its own.
  void begin_child() noexcept;

 private:
  friend class MlxErrands;
  enum Errand : std::uint32_t { kLimit = 1, kTrim = 2, kHeap = 4 };

  [[nodiscard]] Effect pend(std::uint32_t errands);
  /// On one of MLX's callers.
  void run();

  const weir_memory_table& real_;
  CountedMlx& counted_;
  MlxHostCalls& calls_;
  const PageSlot& page_;
  std::function<void()> bell_;
  // No lock: a fork must find nothing held.
  std::atomic<std::uint32_t> waiting_{0}, done_{0};
  std::atomic<std::uint64_t> limit_{0};
  std::atomic<bool> limit_unset_{false};
  std::atomic<std::uint64_t> released_{0};
};

/// Notes what was pending and is done, and trims the heap after it, on the governor's thread.
class MlxErrands final : public IWatch {
 public:
  /// Both must outlive this.
  MlxErrands(MlxActs& acts, ActLog& log) noexcept : acts_(acts), log_(log) {}

  void add_descriptors(std::vector<pollfd>&) override {}
  [[nodiscard]] int patience_ms(std::uint64_t) override { return acts_.done_.load() == 0 ? -1 : 0; }
  void wake(std::uint64_t now_ms, const std::vector<pollfd>& ready) override;

 private:
  MlxActs& acts_;
  ActLog& log_;
};

}  // namespace weir::govern
