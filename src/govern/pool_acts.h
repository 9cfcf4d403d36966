#pragma once

#include "govern/i_acts.h"
#include "govern/over_pool.h"

namespace weir::govern {

/// What can be done over the pool (`mlx-policy`, `weir`): everything, at once, without MLX. A bound of the
/// program that is tighter stays in force, and the words say so. Stateless beside the pool; the caller holds
/// the governor's lock.
class PoolActs final : public IActs {
 public:
  /// Must outlive this.
  explicit PoolActs(OverPool& over) noexcept : over_(over) {}

  Effect set_limits(const WantedLimits& wanted) override;
  Effect trim() override;
  Effect trim_aged(std::uint64_t age_ms) override;
  Effect give_back() override;
  Effect reset_peak() override;
  [[nodiscard]] ledger::AllocatorCounters ledger_counters() override { return over_.ledger_counters(); }

 private:
  [[nodiscard]] std::string words_on_limits(const WantedLimits& wanted) const;

  OverPool& over_;
};

}  // namespace weir::govern
