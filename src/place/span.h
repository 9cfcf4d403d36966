#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <boost/intrusive/set_hook.hpp>

#include "place/units.h"

namespace weir::place {

struct Slab;

/// A page of the address space; 32 bits reach 16 TiB.
using Page = std::uint32_t;

inline constexpr Page kGranulePages = static_cast<Page>(kPagesPerGranule);

[[nodiscard]] constexpr Granule granule_of(Page page) noexcept {
  return page / kGranulePages;
}

/// The granules that lie wholly within pages [first, end).
struct WholeGranules {
  Granule first = 0;
  Granule end = 0;

  constexpr WholeGranules(Page first_page, Page end_page) noexcept
      : first(granule_of(first_page + kGranulePages - 1)), end(granule_of(end_page)) {}
};

/// A run of pages: a hole (free), one block, or a slab of small blocks. Stays where it is in memory.
struct Span {
  enum class Kind : std::uint8_t { kUnused, kHole, kBlock, kSlab };

  boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>> by_size;  ///< kHole.
  Page first = 0;
  Page pages = 0;
  std::uint64_t bytes = 0;  ///< kBlock: the requested size.
  std::uint64_t born = 0;   ///< kBlock: the event that granted it.
  Slab* slab = nullptr;     ///< kSlab.
  Kind kind = Kind::kUnused;

  [[nodiscard]] Page end() const noexcept { return first + pages; }
};

/// Owns span descriptors and hands them out again. Not thread-safe.
class SpanStore {
 public:
  /// Makes the next `count` calls of take() safe; throws std::bad_alloc.
  void reserve(std::size_t count);
  [[nodiscard]] Span* take() noexcept;
  void give_back(Span* span) noexcept;

 private:
  static constexpr std::size_t kChunk = 128;
  std::vector<std::unique_ptr<Span[]>> chunks_;
  std::vector<Span*> spare_;  ///< Its capacity covers every descriptor, so that giving back never allocates.
};

}  // namespace weir::place
