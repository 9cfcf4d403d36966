#pragma once

#include <cstdint>
#include <vector>

#include "place/lazy_array.h"
#include "place/placement.h"

namespace weir::place {

/// Which granules are backed, and which of those are idle: held by no block. Idle granules stand in a list,
/// the longest idle first. Not thread-safe. What may throw std::bad_alloc has then changed nothing.
class GranuleMap {
 public:
  /// How many idle granules outside a block go where.
  struct Plan {
    std::uint32_t returned = 0;  ///< Back to the system.
    std::uint32_t moved = 0;     ///< Under the block.
  };

  /// Room for granules below `end`; throws std::bad_alloc.
  void extend(Granule end);
  /// Makes the books of [first, last] exist; throws std::bad_alloc.
  void reserve(Granule first, Granule last) { links_.ensure(first, last); }

  [[nodiscard]] std::uint32_t backed() const noexcept { return backed_count_; }
  [[nodiscard]] std::uint32_t idle() const noexcept { return idle_count_; }
  [[nodiscard]] bool is_backed(Granule granule) const noexcept { return test(backed_, granule); }
  [[nodiscard]] bool is_idle(Granule granule) const noexcept { return test(idle_, granule); }
  [[nodiscard]] std::uint32_t unbacked(Granule first, Granule last) const noexcept;

  /// Appends what makes [first, last] backed and changes nothing; throws std::bad_alloc.
  void plan(Granule first, Granule last, const Plan& plan, std::vector<Action>& actions) const;
  /// Does what plan() appended from `from` on, then takes [first, last] off the idle list.
  void occupy(Granule first, Granule last, const std::vector<Action>& actions, std::size_t from) noexcept;
  /// [first, last] hold no block any more.
  void vacate(Granule first, Granule last, Tick now) noexcept;

  /// Returns idle granules, longest idle first, until at most `most` are left.
  void shrink(std::uint32_t most, std::vector<Action>& actions);
  /// Returns the granules that went idle before `before`.
  void shrink_older(Tick before, std::vector<Action>& actions);

  /// Checks its own sums and lists; aborts with both values.
  void check_laws() const;

 private:
  static constexpr Granule kNone = ~Granule{0};
  struct Link {
    Tick since = 0;
    Granule before = kNone;
    Granule after = kNone;
  };
  using Bits = std::vector<std::uint64_t>;

  [[nodiscard]] static bool test(const Bits& bits, Granule granule) noexcept {
    return (bits[granule / 64] >> (granule % 64) & 1) != 0;
  }
  static void set(Bits& bits, Granule granule) noexcept {
    bits[granule / 64] |= std::uint64_t{1} << granule % 64;
  }
  static void clear(Bits& bits, Granule granule) noexcept {
    bits[granule / 64] &= ~(std::uint64_t{1} << granule % 64);
  }
  void unlink(Granule granule) noexcept;
  void apply(const Action& action) noexcept;
  void return_oldest(std::uint32_t count, std::vector<Action>& actions);

  Bits backed_;
  Bits idle_;
  LazyArray<Link, 256> links_;
  Granule oldest_ = kNone;
  Granule newest_ = kNone;
  std::uint32_t backed_count_ = 0;
  std::uint32_t idle_count_ = 0;
};

}  // namespace weir::place
