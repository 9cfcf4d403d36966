#pragma once

#include <time.h>
#include <cstdint>
#include <optional>
#include <vector>

#include "place/mlx_rule.h"
#include "place/placement.h"
#include "place/weir_rule.h"
#include "pool/address_space.h"
#include "pool/fork_guard.h"
#include "pool/hard_cap.h"
#include "pool/pool.h"
#include "pool/pool_lock.h"
#include "pool/published_counts.h"
#include "pool/size_classes.h"

namespace weir::pool {

/// A pool's inside. Every function but grant_or_throw wants `lock` held; every event ends with settle(),
/// after which the counters, and the page, say what is.
struct Pool::State {
  enum class Outcome : std::uint8_t { kGranted, kOverLimit, kNoMemory };
  struct Block {
    place::Offset offset = 0;
    std::uint64_t capacity = 0;
    bool hit = false;
    bool reused = false;  ///< One that MLX's rule kept.
  };

  State(const Options& options, const SpaceOptions& space_options);

  /// A block, backing at most `most_backed`; nothing has changed when it is not granted.
  [[nodiscard]] Outcome attempt(std::uint64_t bytes, std::uint64_t most_backed, Block& block) noexcept;
  [[nodiscard]] Outcome place_block(std::uint64_t bytes, std::uint64_t most_backed, Block& block);
  /// Counts a block that was granted for a request of `bytes`; its address.
  [[nodiscard]] void* hand_out(const Block& block, std::uint64_t bytes) noexcept;
  /// The road of an allocation that found no room. Takes the lock itself.
  [[nodiscard]] void* grant_or_throw(std::uint64_t bytes);
  void count_overdraw() noexcept;
  [[nodiscard]] Refusal refusal(std::uint64_t bytes, Outcome why) const noexcept;
  /// Ends a block that was handed out: kept or freed.
  void take_back(place::Offset offset) noexcept;
  [[nodiscard]] bool keep(const place::KeptBlock& block) noexcept;

  /// Ends the blocks that MLX's rule keeps.
  void drop_kept() noexcept;
  void end_dropped() noexcept;
  /// Returns free granules until at most so many bytes of them are backed.
  void shrink(std::uint64_t most_retained) noexcept;
  void drop_retained() noexcept;
  [[nodiscard]] std::uint64_t cache_limit_in_force() const noexcept;
  [[nodiscard]] std::uint64_t most_retained(const place::Totals& totals) noexcept;
  /// Puts the limit in force onto the rules.
  void apply_cache_limit() noexcept;
  /// Ends an event of a block: in brief where it changed no granule and no peak.
  [[gnu::always_inline]] void settle_block(const ClassChange& change) noexcept {
    const place::Totals totals = placement.totals();
    const std::uint64_t retained = totals.retained + kept_bytes;
    const bool brief = totals.backed == counters.backed && totals.retained == settled_granules &&
                       retained <= counters.retained_peak && retained <= most_retained_brief &&
                       counters.live <= counters.live_peak && counters.overdraw == 0;
    if (!brief) return settle_changed(totals, change);
    counters.kept = kept_bytes;
    counters.retained = retained;
    counters.padding = totals.padding;
    publish_brief(change);
  }
  void settle_changed(const place::Totals& totals, ClassChange change) noexcept;
  /// Brings what is retained within the rule, and what is backed within the memory limit as far as free
  /// memory goes; then counts and publishes.
  void settle(place::Totals totals) noexcept;
  void settle() noexcept { settle(placement.totals()); }
  void count(const place::Totals& totals) noexcept;
  /// What an event of a block always changes, and its size class.
  [[gnu::always_inline]] void publish_brief(const ClassChange& change) noexcept {
    const std::uint64_t allocations = counters.allocations - published_from.allocations;
    if (page == nullptr) return size_classes.apply(change, allocations);
    const wire::PageUpdate update(*page);
    store_block_counts(*page, counters, published_from);
    size_classes.apply(change, allocations);
  }
  /// Everything, with the class of the grant that settles now.
  void publish() noexcept;
  /// Calls it inside an update of the page, where there is one.
  template <class Change>
  void update_page(const Change& change) noexcept {
    if (page == nullptr) return change();
    const wire::PageUpdate update(*page);
    change();
  }
  /// In a fork's child: publishes nowhere until told to, because its parent's page is not its own; what is
  /// published then counts from here.
  void begin_child() noexcept;

  /// Does what placement asks; false where the kernel has no more (then a grant must be undone).
  [[nodiscard]] bool apply_actions() noexcept;
  [[nodiscard]] bool add_range(std::uint64_t bytes);
  void know_range(const Range& range);
  void drop_empty_ranges() noexcept;

  /// The time of this event: read at every 16th, because ages count in seconds.
  [[nodiscard]] place::Tick now() noexcept {
    constexpr unsigned kEvents = 16;
    return events++ % kEvents == 0 ? read_time() : time;
  }
  place::Tick read_time() noexcept {
    timespec read{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &read);
    constexpr place::Tick kPerSecond = 1'000;
    time = static_cast<place::Tick>(read.tv_sec) * kPerSecond +
           static_cast<place::Tick>(read.tv_nsec) / (1'000'000'000 / kPerSecond);
    return time;
  }

  mutable PoolLock lock;
  Policy policy;
  std::optional<std::uint64_t> cache_limit;
  std::uint64_t memory_limit;
  AddressSpace space;
  bool reserved;  ///< The first range is a reservation.
  place::Placement placement;
  place::MlxRule mlx;
  place::WeirRule weir;
  /// Room for an action on every granule, so that returning memory never needs some.
  std::vector<place::Action> actions;
  std::vector<place::KeptBlock> dropped;  ///< Has room for all kept blocks.
  std::size_t kept_blocks = 0;
  std::uint64_t kept_bytes = 0;  ///< The rule's own sum.
  place::Tick time = 0;
  unsigned events = 0;
  std::uint64_t settled_granules = 0;              ///< Bytes of free granules when the last event settled.
  std::uint64_t most_retained_brief = kUnlimited;  ///< While no granule changes.
  Counters counters;
  Counters published_from;  ///< Of the counts: what they were where the page's begin.
  std::uint64_t own_troubles = 0;
  wire::CountersPage* page = nullptr;
  SizeClasses size_classes;
  ClassChange settling;  ///< Of the event that settles now.
  ForkGuard fork_guard{lock, [](void* state) noexcept { static_cast<State*>(state)->begin_child(); }, this};
};

}  // namespace weir::pool
