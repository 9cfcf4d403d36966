#include "place/spot.h"

#include <algorithm>
#include <compare>

namespace weir::place {
namespace {

constexpr int kCandidates = 8;

/// What decides between spots, the most important first; less is better.
struct Preference {
  bool wrong_side = false;
  std::uint32_t newly_held = 0;
  bool loose = false;
  std::uint32_t unbacked = 0;
  Page from_own_end = 0;

  auto operator<=>(const Preference&) const = default;
  [[nodiscard]] bool ideal() const noexcept { return !wrong_side && newly_held == 0 && !loose; }
};

Spot spot_in(Span& hole, const GranuleMap& granules, const SpanWish& wish) {
  Spot spot;
  spot.hole = &hole;
  spot.first = wish.short_lived ? hole.end() - wish.pages : hole.first;
  // A granule is held exactly if it is not wholly inside a hole.
  const WholeGranules free(hole.first, hole.end());
  const Granule from = std::max(free.first, granule_of(spot.first));
  const Granule to = std::min(free.end, granule_of(spot.first + wish.pages - 1) + 1);
  if (to > from) {
    spot.newly_held = to - from;
    spot.unbacked = granules.unbacked(from, to - 1);
  }
  return spot;
}

Preference preference_of(const Spot& spot, const SpanMap& spans, const SpanWish& wish) {
  Preference preference;
  if (!wish.short_lived) {
    // The largest hole lies between the long-lived blocks below it and the short-lived ones above.
    preference.wrong_side = spot.hole->first > spans.holes().rbegin()->first;
  }
  preference.newly_held = spot.newly_held;
  preference.loose = spot.hole->pages - wish.pages > wish.pages / 8;
  preference.unbacked = spot.unbacked;
  preference.from_own_end = wish.short_lived ? ~spot.hole->first : spot.hole->first;
  return preference;
}

}  // namespace

Spot best_spot(SpanMap& spans, const GranuleMap& granules, const SpanWish& wish) noexcept {
  Spot best;
  Preference best_preference;
  int tried = 0;
  for (auto hole = spans.at_least(wish.pages); hole != spans.holes().end() && tried < kCandidates;
       ++hole, ++tried) {
    const Spot spot = spot_in(*hole, granules, wish);
    const Preference preference = preference_of(spot, spans, wish);
    if (!best.hole || preference < best_preference) {
      best = spot;
      best_preference = preference;
    }
    if (best_preference.ideal()) break;
  }
  return best;
}

Spot leanest_spot(SpanMap& spans, const GranuleMap& granules, const SpanWish& wish) noexcept {
  Spot best;
  for (auto hole = spans.at_least(wish.pages); hole != spans.holes().end(); ++hole) {
    for (const bool high : {false, true}) {
      const Spot spot = spot_in(*hole, granules, {wish.pages, high});
      if (!best.hole || spot.newly_held < best.newly_held) best = spot;
    }
  }
  return best;
}

}  // namespace weir::place
