#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "wire/counters_page.h"

namespace weir::pool {

inline constexpr std::uint64_t kUnlimited = wire::kNoLimit;

enum class Policy : std::uint8_t {
  kMlx,   ///< MLX's own rule over the pool's blocks: `mlx-policy`.
  kWeir,  ///< Split and join, free granules retained: `weir`.
};

struct Options {
  Policy policy = Policy::kWeir;
  std::optional<std::uint64_t> cache_limit;  ///< nullopt: the policy's own default (32 MiB; demand).
  std::uint64_t memory_limit = kUnlimited;   ///< Hard.
  bool huge_pages = true;                    ///< Ask for them; used where the kernel allows.
  bool move = true;                          ///< Move granules by mremap where that pays.
  /// Address space to reserve; 0: several times the machine's memory. Less is taken where the kernel
  /// refuses (`ulimit -v`, strict overcommit), down to ranges added on demand.
  std::uint64_t reserve_bytes = 0;
};

struct Counters {
  std::uint64_t live = 0;      ///< Sum of the capacities of blocks in use.
  std::uint64_t retained = 0;  ///< Blocks that MLX's rule keeps, and wholly free granules that are backed.
  std::uint64_t kept = 0;      ///< Of it, what MLX's rule keeps: MLX's own cache bytes.
  std::uint64_t padding = 0;
  std::uint64_t backed = 0;  ///< live + retained + padding.
  std::uint64_t overdraw = 0;
  std::uint64_t live_peak = 0, retained_peak = 0, backed_peak = 0, overdraw_peak = 0;
  std::uint64_t allocations = 0, frees = 0, hits = 0, misses = 0, refusals = 0, overdraws = 0;
  std::uint64_t returned = 0, moved = 0, troubles = 0;
};

/// The allocator: placement plus address space, backing, return and the hard cap. Thread-safe; one lock.
/// Fork-safe: a child gets the blocks of its parent and a usable lock (pthread_atfork, for the pools alive at
/// fork); its peaks begin at what it got. Blocks are aligned to 64 bytes. backed <= memory limit + overdraw,
/// always.
class Pool {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Pool>> open(const Options& options);
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  /// A block of at least `bytes`. Above the memory limit, or where the kernel has no more: on a caller's
  /// thread trims what is retained, returns granules, tries again, then throws OverLimit (hard_cap.h); on one
  /// of MLX's workers (thread_kind.h) it grants above the limit and counts an overdraw, which is repaid
  /// before the next grant to a caller. Only a worker whose kernel has no more gets OverLimit too.
  [[nodiscard]] void* allocate(std::uint64_t bytes);
  /// nullptr is ignored. A pointer that is no block counts a trouble and is left alone.
  void free(void* block) noexcept;
  /// Bytes that the block may hold, as MLX sees them; 0 for nullptr.
  [[nodiscard]] std::uint64_t capacity(const void* block) const noexcept;

  /// Drops and returns everything retained; bytes given back.
  std::uint64_t trim();
  /// Returns granules free for longer than `age_ms`; bytes given back. Keeps what MLX's rule keeps.
  std::uint64_t trim_aged(std::uint64_t age_ms);
  /// Each returns the previous value; what is above a lower limit goes back before the call returns.
  /// nullopt: the policy's own default.
  std::optional<std::uint64_t> set_cache_limit(std::optional<std::uint64_t> bytes);
  std::uint64_t set_memory_limit(std::uint64_t bytes);
  /// Switches live: what MLX's rule keeps is dropped on the way to kWeir; the cache limit stays.
  Policy set_policy(Policy policy);

  [[nodiscard]] Policy policy() const noexcept;
  /// In force: a number also where the policy's default is; kUnlimited for none.
  [[nodiscard]] std::uint64_t cache_limit() const noexcept;
  [[nodiscard]] std::uint64_t memory_limit() const noexcept;
  [[nodiscard]] Counters counters() const;
  void reset_peaks();
  /// Where the pool keeps its books: addresses outside of its ranges, [first, second), rising.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> books() const;
  /// One more time that weir could not do what it should, beside the pool's own.
  void count_trouble() noexcept;
  /// Publishes every later event to the page (its counters and pool range); nullptr stops. The page must
  /// outlive that. In a fork's child, which publishes nowhere at first, the page's counts begin at the fork.
  void publish(wire::CountersPage* page) noexcept;
  /// Every law, checked the slow way; for tests.
  void check_laws() const;

 private:
  struct State;
  explicit Pool(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace weir::pool
