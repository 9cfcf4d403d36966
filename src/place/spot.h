#pragma once

#include <cstdint>

#include "place/granule_map.h"
#include "place/span_map.h"

namespace weir::place {

/// A span that is to be placed. Short-lived ones go to the high end of a hole, long-lived ones to its low
/// end.
struct SpanWish {
  Page pages = 0;
  bool short_lived = false;
};

/// Where a span could go and what that takes.
struct Spot {
  Span* hole = nullptr;  ///< None: no hole is long enough.
  Page first = 0;
  std::uint32_t newly_held = 0;  ///< Granules that hold a block only from then on.
  std::uint32_t unbacked = 0;    ///< Of those.
};

/// Among the eight holes that fit best, the preferred one:
///   1. a long-lived span stays out of the short-lived ones' side, whose granules it would pin
///   2. it holds the fewest granules more, so that the others can go back or move
///   3. it leaves at most an eighth of its size, else the rest is often of no use
///   4. it needs the fewest unbacked granules
///   5. it is nearest to its own end
[[nodiscard]] Spot best_spot(SpanMap& spans, const GranuleMap& granules, const SpanWish& wish) noexcept;
/// Among all holes and both ends, the spot that holds the fewest granules more. As slow as there are holes.
[[nodiscard]] Spot leanest_spot(SpanMap& spans, const GranuleMap& granules, const SpanWish& wish) noexcept;

}  // namespace weir::place
