#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "wire/counters_page.h"

namespace weir::pool {

/// What an event of a block changes in the size classes.
struct ClassChange {
  bool granted = false;  ///< A grant, of `bytes` as asked for.
  bool hit = false;      ///< It needed no memory from the system.
  std::uint64_t bytes = 0;
  std::uint64_t kept = 0;    ///< Capacity of the block that MLX's rule keeps from now on.
  std::uint64_t reused = 0;  ///< Of the one that it keeps no longer.
};

/// The counts by size of requests, kept where the page has them, or here while there is none. Not
/// thread-safe: the pool's lock; what writes to a page belongs into an update of it.
class SizeClasses {
 public:
  SizeClasses() = default;
  SizeClasses(const SizeClasses&) = delete;
  SizeClasses& operator=(const SizeClasses&) = delete;

  /// `number` is the page's `allocations` with the grant.
  [[gnu::always_inline]] void count(const ClassChange& change, std::uint64_t number) noexcept {
    if (!change.granted) return;
    wire::SizeClass& counts = at_[wire::size_class(change.bytes)];
    add(counts.allocations, 1);
    add(counts.hits, change.hit ? 1 : 0);
    counts.last_allocation.store(number, std::memory_order_relaxed);
  }
  [[gnu::always_inline]] void count_kept(const ClassChange& change) noexcept {
    if (change.kept != 0) change_kept(change.kept, change.kept);
    if (change.reused != 0) end_keeping(change.reused);
  }
  [[gnu::always_inline]] void apply(const ClassChange& change, std::uint64_t number) noexcept {
    count(change, number);
    count_kept(change);
  }
  /// MLX's rule keeps a block of this capacity no longer.
  void end_keeping(std::uint64_t capacity) noexcept { change_kept(capacity, 0 - capacity); }

  /// From now on at `place` (kSizeClasses of them; null: here), with what was counted so far.
  void move_to(wire::SizeClass* place) noexcept;
  /// Counts begin at 0, here; what is kept stays. The former place is not touched.
  void begin_child() noexcept;
  /// Aborts where the sums are others, or a class shows another value than is kept. For tests.
  void check_laws(std::uint64_t allocations, std::uint64_t hits, std::uint64_t kept) const;

 private:
  /// One writer: no locked instruction.
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  void change_kept(std::uint64_t capacity, std::uint64_t difference) noexcept {
    const std::size_t each = wire::size_class(capacity);
    kept_[each] += difference;
    at_[each].retained.store(kept_[each], std::memory_order_relaxed);
  }

  std::array<wire::SizeClass, wire::kSizeClasses> own_{};
  wire::SizeClass* at_ = own_.data();
  std::array<std::uint64_t, wire::kSizeClasses> kept_{};  ///< Also where a page is: a fork's child cannot
                                                          ///< read its parent's.
};

}  // namespace weir::pool
