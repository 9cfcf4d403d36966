#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "place/units.h"

namespace weir::pool {

/// When the kernel charges the pool's memory to the process.
enum class Charging : std::uint8_t {
  kOnTouch,    ///< All of it is writable; pages are charged when touched.
  kByGranule,  ///< Nothing is writable before it is backed nor after its return: for kernels that charge what
               ///< is writable (strict overcommit, RLIMIT_DATA).
};

struct SpaceOptions {
  std::uint64_t reserve_bytes = 0;  ///< 0: no reservation, ranges on demand.
  Charging charging = Charging::kOnTouch;
  bool huge_pages = true;
  bool move = true;
  std::uint32_t most_mappings = 32'000;  ///< Moves stop where they would need more.
};

/// What is known of a granule; all zero at first.
struct GranuleBook {
  std::int32_t displacement = 0;  ///< Granules between the pages' first address and where moves brought them.
  bool backed = false;
  bool hole = false;  ///< A failed move left its addresses unmapped.
};

/// A run of granules at one place.
struct Range {
  place::Granule first = 0;
  std::uint32_t count = 0;
  std::byte* start = nullptr;
  std::byte* books = nullptr;  ///< kPageBytes of block bits a granule, then one GranuleBook a granule.
  std::uint32_t backed = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return count * place::kGranuleBytes; }
  [[nodiscard]] place::Offset offset() const noexcept { return first * place::kGranuleBytes; }
  [[nodiscard]] place::Granule end() const noexcept { return first + count; }
};

/// The addresses of a pool: one reservation, or several ranges where the kernel gives less; all aligned to
/// granules, so that huge pages fit. Offsets number the ranges' bytes, higher for later ranges. Holds one bit
/// for each kAlignment bytes: whether a block that the pool's user holds starts there. Not thread-safe.
class AddressSpace {
 public:
  /// Takes the largest reservation that the kernel gives, down to none: then ranges come on demand.
  explicit AddressSpace(const SpaceOptions& options) noexcept;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  ~AddressSpace();

  [[nodiscard]] const std::vector<Range>& ranges() const noexcept { return ranges_; }
  /// A further range of at least `bytes`; nullptr where the kernel has none.
  [[nodiscard]] const Range* add_range(std::uint64_t bytes) noexcept;
  /// Gives the addresses of a range back, whose granules must all be unbacked.
  void remove_range(place::Granule first) noexcept;

  /// The offset must lie in a range.
  [[nodiscard]] std::byte* address_of(place::Offset offset) const noexcept {
    const Range& range = range_of(offset);
    return range.start + (offset - range.offset());
  }
  /// Where a pointer lies; nullopt outside of every range.
  [[nodiscard]] std::optional<place::Offset> offset_of(const void* pointer) const noexcept {
    if (only_ == nullptr) return offset_in_ranges(pointer);
    const auto distance = static_cast<std::uint64_t>(static_cast<const std::byte*>(pointer) - only_->start);
    if (distance >= only_->bytes()) return std::nullopt;
    return only_->offset() + distance;
  }

  /// Sets the bit of the block at `offset`.
  void mark(place::Offset offset) noexcept { word_of(offset) |= bit_of(offset); }
  [[nodiscard]] bool is_marked(place::Offset offset) const noexcept {
    return offset % place::kAlignment == 0 && (word_of(offset) & bit_of(offset)) != 0;
  }
  /// Clears it; false when it was not set or the offset is not aligned.
  [[nodiscard]] bool unmark(place::Offset offset) noexcept {
    if (!is_marked(offset)) return false;
    word_of(offset) &= ~bit_of(offset);
    return true;
  }

  /// Makes granules usable; false where the kernel has no more.
  [[nodiscard]] bool back(place::Granule first, std::uint32_t count) noexcept;
  /// Gives the pages of those that are backed to the system; counts a trouble where the kernel refuses.
  void give_back(place::Granule first, std::uint32_t count) noexcept;
  /// The pages of `from` go to `to`: moved, or, where that is impossible, given back and backed afresh. False
  /// where the kernel has no more; `from` is then given back all the same.
  [[nodiscard]] bool move(place::Granule from, place::Granule to, std::uint32_t count) noexcept;

  [[nodiscard]] bool moves() const noexcept { return options_.move; }
  [[nodiscard]] std::uint64_t moved_bytes() const noexcept { return moved_bytes_; }
  [[nodiscard]] std::uint64_t returned_bytes() const noexcept { return returned_bytes_; }
  [[nodiscard]] std::uint64_t troubles() const noexcept { return troubles_; }
  [[nodiscard]] std::uint32_t backed_granules() const noexcept { return backed_; }
  /// Mappings that moves have cut the ranges into, beyond one a range.
  [[nodiscard]] std::uint32_t cuts() const noexcept { return cuts_; }
  [[nodiscard]] Charging charging() const noexcept { return options_.charging; }
  /// Bytes of addresses of the range's books.
  [[nodiscard]] static std::uint64_t size_of_books(const Range& range) noexcept;
  /// Marked blocks in backed granules, counted the slow way.
  [[nodiscard]] std::uint64_t count_marks() const noexcept;

 private:
  [[nodiscard]] const Range& range_of(place::Offset offset) const noexcept {
    return only_ != nullptr ? *only_ : search_range(offset);
  }
  [[nodiscard]] const Range& search_range(place::Offset offset) const noexcept;
  [[nodiscard]] std::uint64_t& word_of(place::Offset offset) const noexcept {
    const Range& range = range_of(offset);
    const std::uint64_t index = (offset - range.offset()) / place::kAlignment;
    return reinterpret_cast<std::uint64_t*>(range.books)[index / 64];
  }
  [[nodiscard]] static std::uint64_t bit_of(place::Offset offset) noexcept {
    return std::uint64_t{1} << (offset / place::kAlignment % 64);
  }
  [[nodiscard]] std::optional<place::Offset> offset_in_ranges(const void* pointer) const noexcept;
  [[nodiscard]] Range& range_of_granule(place::Granule granule) noexcept;
  [[nodiscard]] bool map_range(std::uint64_t bytes, Range& range) noexcept;
  void index_addresses() noexcept;
  void drop_pages(Range& range, place::Granule first, std::uint32_t count) noexcept;
  [[nodiscard]] bool renew(Range& range, place::Granule first, std::uint32_t count) noexcept;
  [[nodiscard]] bool move_run(Range& source, place::Granule from, Range& target, place::Granule to,
                              std::uint32_t count) noexcept;
  void displace(Range& range, place::Granule first, std::uint32_t count, std::int32_t displacement) noexcept;
  void set_backed(Range& range, place::Granule first, std::uint32_t count, bool backed) noexcept;

  SpaceOptions options_;
  std::vector<Range> ranges_;              ///< By granule.
  const Range* only_ = nullptr;            ///< Where there is one.
  std::vector<std::uint32_t> by_address_;  ///< Indexes of ranges_, by address.
  std::uint32_t backed_ = 0;
  std::uint32_t cuts_ = 0;
  std::uint64_t moved_bytes_ = 0;
  std::uint64_t returned_bytes_ = 0;
  std::uint64_t troubles_ = 0;
};

/// What suits this process: its resource limits, the kernel's overcommit mode, the machine's memory.
[[nodiscard]] SpaceOptions space_options_here(std::uint64_t reserve_bytes, bool huge_pages,
                                              bool move) noexcept;

}  // namespace weir::pool
