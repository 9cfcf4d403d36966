#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "place/units.h"

namespace weir::place {

/// What the owner of the memory does to granules, in the order of the list, before the block is used.
struct Action {
  enum class Kind : std::uint8_t {
    kBack,    ///< [granule, granule + count) is charged from now on: it will be touched.
    kMove,    ///< The physical pages of free granules [from, from + count) go to [granule, granule + count).
    kReturn,  ///< The physical pages of [granule, granule + count) go back to the system.
  };
  Kind kind;
  Granule granule;
  std::uint32_t count;
  Granule from = 0;  ///< kMove only.

  bool operator==(const Action&) const = default;
};

struct Options {
  bool move = true;  ///< Emit kMove where a grant of at least `move_from_bytes` needs granules.
  std::uint64_t move_from_bytes = 0;
  bool two_ended = true;  ///< Short-lived sizes go to the high end; otherwise everything is long-lived.
};

/// How a grant went.
enum class Placed : std::uint8_t {
  kGranted,
  kNoAddress,  ///< No free address range is long enough: add a range and ask again.
  kOverBound,  ///< It would back more than `most_backed`, also after every free granule was used.
};

struct Grant {
  Placed placed = Placed::kGranted;
  Offset offset = 0;
  std::uint64_t new_granules =
      0;  ///< Those of its kBack actions; with kOverBound: by how many `backed` would grow.
};

/// Bytes by state. granted + retained + padding = backed, always.
struct Totals {
  std::uint64_t granted = 0;   ///< Sum of the requested sizes of all blocks now granted.
  std::uint64_t retained = 0;  ///< Wholly free granules that are still backed.
  std::uint64_t padding = 0;   ///< Rounding, slabs' free slots, free bytes in granules that a block pins.
  std::uint64_t backed = 0;

  bool operator==(const Totals&) const = default;
};

/// Where blocks lie and which granules are backed: a pure state machine, no system call, no clock, same calls
/// same answers. Blocks below kSmallBytes share slabs; larger ones are spans of whole pages, best fit among
/// free spans with what is already backed preferred, split at once and joined at once. Long-lived blocks grow
/// from the low end, short-lived ones from the high end, learned from the lifetimes of their sizes. A
/// grant uses free backed granules (moved, or returned and backed elsewhere) before it backs more, so
/// `backed` never grows while a granule is free.
///
/// Not thread-safe. add_range, grant and shrink may throw std::bad_alloc for their own books and then have
/// changed nothing; free never throws for a block that exists. Sizes up to 2^46; a larger one is kNoAddress.
/// One empty slab a size class stays as padding until `backed` would grow, or shrink(0), or it is old.
class Placement {
 public:
  explicit Placement(const Options& options);
  Placement(Placement&&) noexcept;
  Placement& operator=(Placement&&) noexcept;
  ~Placement();

  /// More address space: granules [first, first + count), unbacked; touches no other range's blocks (ranges
  /// never join). `first` must lie above every range so far; granules below 2^23 - 1 (16 TiB).
  void add_range(Granule first, std::uint32_t count);
  /// Takes back a range that holds no block and no backed granule; false when it does.
  bool remove_range(Granule first);

  /// A block of `bytes` (0 is valid and distinct), aligned to kAlignment, or to kPageBytes from kSmallBytes
  /// on. Appends what must be done to memory; on anything but kGranted nothing is appended and
  /// nothing changed, save that empty slabs may have become free granules.
  Grant grant(std::uint64_t bytes, Tick now, std::uint64_t most_backed, std::vector<Action>& actions);
  /// Ends a block; its wholly free granules are retained and their age starts. Returns its requested size.
  std::uint64_t free(Offset offset, Tick now);
  /// The requested size of the block that starts there; nullopt when none does.
  [[nodiscard]] std::optional<std::uint64_t> size_of(Offset offset) const noexcept;

  /// Returns free granules, oldest first, until at most `most_retained` bytes of them are backed.
  void shrink(std::uint64_t most_retained, std::vector<Action>& actions);
  /// Returns free granules that have been free since before `before`.
  void shrink_older(Tick before, std::vector<Action>& actions);

  [[nodiscard]] Totals totals() const noexcept;
  /// Every law of this class, checked the slow way: sums, no overlap, alignment, no two free neighbours,
  /// every granule's state. For tests; aborts with both values where one fails.
  void check_laws() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace weir::place
