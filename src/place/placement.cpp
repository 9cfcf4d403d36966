#include "place/placement.h"

#include <algorithm>

#include "base/check.h"
#include "place/granule_map.h"
#include "place/lifetimes.h"
#include "place/slab_map.h"
#include "place/span_map.h"
#include "place/spot.h"

namespace weir::place {
namespace {

constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 46;
constexpr Granule kMostGranules = Granule{1} << 23;  ///< A page number has 32 bits.

constexpr std::uint64_t offset_of(Page page) {
  return std::uint64_t{page} * kPageBytes;
}
}  // namespace

struct Placement::State {
  explicit State(const Options& given) : options(given) {}

  struct Wanted {
    SpanWish span;
    std::uint64_t bytes = 0;  ///< Decides whether granules are moved.
    std::uint64_t most_granules = 0;
  };

  struct Block {
    Span* span = nullptr;  ///< None: no block starts there.
    std::uint64_t bytes = 0;
    std::uint32_t slot = 0;  ///< In a slab.
  };

  [[nodiscard]] Block block_at(Offset offset) const noexcept;
  /// Whether it can be had without backing more than the bound.
  [[nodiscard]] bool fits(const Spot& spot, const Wanted& wanted) const noexcept;
  /// Granules by which `backed` grows.
  [[nodiscard]] std::uint32_t growth(const Spot& spot) const noexcept;
  [[nodiscard]] Spot choose(const Wanted& wanted, Placed& placed) noexcept;
  Grant grant_span(const Wanted& wanted, Span::Kind kind, std::vector<Action>& actions, Span*& span);
  Grant grant_block(std::uint64_t bytes, std::uint64_t most_granules, std::vector<Action>& actions);
  Grant grant_slot(std::uint64_t bytes, std::uint64_t most_granules, std::vector<Action>& actions);
  void release(Span& span, Tick now) noexcept;
  /// Makes empty slabs holes; true when there was one.
  bool drop_empty_slabs(Tick before) noexcept;

  void check_range(const SpanMap::Range& range, std::uint64_t& granted, std::size_t& holes) const;
  void check_span(const Span& span, std::uint64_t& granted, std::size_t& holes) const;

  Options options;
  SpanMap spans;
  GranuleMap granules;
  SlabMap slabs;
  Lifetimes lifetimes;
  std::uint64_t granted = 0;
  std::uint64_t events = 0;
  Tick latest = 0;
};

Placement::State::Block Placement::State::block_at(Offset offset) const noexcept {
  const std::uint64_t page = offset / kPageBytes;
  Span* span = page <= ~Page{0} ? spans.find(static_cast<Page>(page)) : nullptr;
  if (!span) return {};
  if (span->kind == Span::Kind::kSlab) {
    const std::optional<std::uint32_t> slot = SlabMap::slot_at(*span, offset);
    return slot ? Block{span, span->slab->sizes[*slot], *slot} : Block{};
  }
  return span->kind == Span::Kind::kBlock && offset % kPageBytes == 0 ? Block{span, span->bytes, 0} : Block{};
}

bool Placement::State::fits(const Spot& spot, const Wanted& wanted) const noexcept {
  const std::uint64_t held = granules.backed() - granules.idle();
  return held + spot.newly_held <= wanted.most_granules;
}

std::uint32_t Placement::State::growth(const Spot& spot) const noexcept {
  const std::uint32_t idle_outside = granules.idle() - (spot.newly_held - spot.unbacked);
  return spot.unbacked - std::min(spot.unbacked, idle_outside);
}

Spot Placement::State::choose(const Wanted& wanted, Placed& placed) noexcept {
  Spot spot = best_spot(spans, granules, wanted.span);
  // Empty slabs are the first to go where memory or address space would grow.
  if ((!spot.hole || growth(spot) > 0 || !fits(spot, wanted)) && drop_empty_slabs(kNoBound))
    spot = best_spot(spans, granules, wanted.span);
  placed = Placed::kNoAddress;
  if (!spot.hole) return spot;
  if (!fits(spot, wanted)) spot = leanest_spot(spans, granules, wanted.span);
  placed = fits(spot, wanted) ? Placed::kGranted : Placed::kOverBound;
  return spot;
}

Grant Placement::State::grant_span(const Wanted& wanted, Span::Kind kind, std::vector<Action>& actions,
                                   Span*& span) {
  Grant grant;
  const Spot spot = choose(wanted, grant.placed);
  if (grant.placed != Placed::kGranted) {
    if (spot.hole) grant.new_granules = growth(spot);
    return grant;
  }
  const Granule first = granule_of(spot.first);
  const Granule last = granule_of(spot.first + wanted.span.pages - 1);
  spans.reserve(*spot.hole, spot.first, wanted.span.pages);
  granules.reserve(first, last);

  const std::uint32_t grows = growth(spot);
  const std::uint32_t reused = spot.unbacked - grows;
  const std::uint64_t backed = granules.backed() + grows;
  GranuleMap::Plan plan;
  plan.returned =
      backed > wanted.most_granules ? static_cast<std::uint32_t>(backed - wanted.most_granules) : 0;
  const bool move = options.move && wanted.bytes >= options.move_from_bytes;
  (move ? plan.moved : plan.returned) += reused;
  const std::size_t from = actions.size();
  granules.plan(first, last, plan, actions);
  granules.occupy(first, last, actions, from);
  span = &spans.take(*spot.hole, spot.first, wanted.span.pages, kind);
  grant.offset = offset_of(span->first);
  grant.new_granules = spot.unbacked - plan.moved;
  return grant;
}

Grant Placement::State::grant_block(std::uint64_t bytes, std::uint64_t most_granules,
                                    std::vector<Action>& actions) {
  const std::uint64_t pages = (bytes + kPageBytes - 1) / kPageBytes;
  if (bytes > kMostBytes || pages > ~Page{0}) return {Placed::kNoAddress, 0, 0};
  Wanted wanted;
  wanted.span.pages = static_cast<Page>(pages);
  wanted.bytes = bytes;
  wanted.most_granules = most_granules;
  wanted.span.short_lived = options.two_ended && lifetimes.is_short(wanted.span.pages);
  Span* span = nullptr;
  const Grant grant = grant_span(wanted, Span::Kind::kBlock, actions, span);
  if (grant.placed != Placed::kGranted) return grant;
  span->bytes = bytes;
  span->born = ++events;
  lifetimes.granted(wanted.span.pages);
  granted += bytes;
  return grant;
}

Grant Placement::State::grant_slot(std::uint64_t bytes, std::uint64_t most_granules,
                                   std::vector<Action>& actions) {
  const std::uint32_t size_class = SlabMap::class_of(bytes);
  Grant grant;
  if (!slabs.has_room(size_class)) {
    slabs.reserve(size_class);
    Wanted wanted;
    wanted.span.pages = SlabMap::pages(size_class);
    wanted.bytes = std::uint64_t{wanted.span.pages} * kPageBytes;
    wanted.most_granules = most_granules;
    Span* span = nullptr;
    grant = grant_span(wanted, Span::Kind::kSlab, actions, span);
    if (grant.placed != Placed::kGranted) return grant;
    slabs.add(*span, size_class);
  }
  grant.offset = slabs.take(size_class, bytes);
  ++events;
  granted += bytes;
  return grant;
}

void Placement::State::release(Span& span, Tick now) noexcept {
  const Page first = span.first;
  const Page last = span.end() - 1;
  const Span& hole = spans.release(span);
  const WholeGranules free(hole.first, hole.end());
  const Granule from = std::max(free.first, granule_of(first));
  const Granule to = std::min(free.end, granule_of(last) + 1);
  if (from < to) granules.vacate(from, to - 1, now);
}

bool Placement::State::drop_empty_slabs(Tick before) noexcept {
  bool dropped = false;
  while (Span* span = slabs.drop_empty(before)) {
    release(*span, latest);
    dropped = true;
  }
  return dropped;
}

Placement::Placement(const Options& options) : state_(std::make_unique<State>(options)) {}
Placement::Placement(Placement&&) noexcept = default;
Placement& Placement::operator=(Placement&&) noexcept = default;
Placement::~Placement() = default;

void Placement::add_range(Granule first, std::uint32_t count) {
  WEIR_CHECK_LE(std::uint64_t{first} + count, std::uint64_t{kMostGranules} - 1);
  state_->granules.extend(first + count);
  state_->spans.add_range(first * kGranulePages, count * kGranulePages);
}

bool Placement::remove_range(Granule first) {
  if (first >= kMostGranules) return false;
  const SpanMap::Range* range = state_->spans.range_at(first * kGranulePages);
  if (!range) return false;
  const std::uint32_t count = granule_of(range->pages);
  if (state_->granules.unbacked(first, first + count - 1) != count) return false;
  return state_->spans.remove_range(range->first);
}

Grant Placement::grant(std::uint64_t bytes, Tick now, std::uint64_t most_backed,
                       std::vector<Action>& actions) {
  state_->latest = now;
  const std::uint64_t most_granules = most_backed / kGranuleBytes;
  return bytes < kSmallBytes ? state_->grant_slot(bytes, most_granules, actions)
                             : state_->grant_block(bytes, most_granules, actions);
}

std::uint64_t Placement::free(Offset offset, Tick now) {
  State& state = *state_;
  const State::Block block = state.block_at(offset);
  WEIR_CHECK(block.span != nullptr);
  state.latest = now;
  state.granted -= block.bytes;
  ++state.events;
  if (block.span->kind == Span::Kind::kSlab) {
    if (state.slabs.free(*block.span, block.slot, now)) state.release(*block.span, now);
  } else {
    state.lifetimes.ended(block.span->pages, state.events - block.span->born);
    state.release(*block.span, now);
  }
  return block.bytes;
}

std::optional<std::uint64_t> Placement::size_of(Offset offset) const noexcept {
  const State::Block block = state_->block_at(offset);
  return block.span ? std::optional(block.bytes) : std::nullopt;
}

void Placement::shrink(std::uint64_t most_retained, std::vector<Action>& actions) {
  if (most_retained == 0) state_->drop_empty_slabs(kNoBound);
  state_->granules.shrink(
      static_cast<std::uint32_t>(std::min<std::uint64_t>(most_retained / kGranuleBytes, kMostGranules)),
      actions);
}

void Placement::shrink_older(Tick before, std::vector<Action>& actions) {
  state_->drop_empty_slabs(before);
  state_->granules.shrink_older(before, actions);
}

Totals Placement::totals() const noexcept {
  const State& state = *state_;
  Totals totals;
  totals.granted = state.granted;
  totals.backed = state.granules.backed() * kGranuleBytes;
  totals.retained = state.granules.idle() * kGranuleBytes;
  totals.padding = totals.backed - totals.retained - totals.granted;
  return totals;
}

void Placement::check_laws() const {
  std::uint64_t granted = 0;
  std::size_t holes = 0;
  for (const SpanMap::Range& range : state_->spans.ranges())
    state_->check_range(range, granted, holes);
  WEIR_CHECK_EQ(granted, state_->granted);
  WEIR_CHECK_EQ(holes, state_->spans.holes().size());
  state_->granules.check_laws();
}

void Placement::State::check_range(const SpanMap::Range& range, std::uint64_t& granted_sum,
                                   std::size_t& holes) const {
  std::vector<bool> held(granule_of(range.pages));
  bool after_hole = false;
  Page page = range.first;
  while (page < range.first + range.pages) {
    const Span* span = spans.find(page);
    WEIR_CHECK(span != nullptr);
    WEIR_CHECK_EQ(span->first, page);
    WEIR_CHECK_LE(span->end(), range.first + range.pages);
    const bool hole = span->kind == Span::Kind::kHole;
    WEIR_CHECK(!(hole && after_hole));
    after_hole = hole;
    check_span(*span, granted_sum, holes);
    for (Granule g = granule_of(span->first); !hole && g <= granule_of(span->end() - 1); ++g)
      held[g - granule_of(range.first)] = true;
    page = span->end();
  }
  for (Granule g = 0; g < held.size(); ++g) {
    const Granule granule = granule_of(range.first) + g;
    if (held[g]) WEIR_CHECK(granules.is_backed(granule));
    WEIR_CHECK_EQ(granules.is_idle(granule), granules.is_backed(granule) && !held[g]);
  }
}

void Placement::State::check_span(const Span& span, std::uint64_t& granted_sum, std::size_t& holes) const {
  if (span.kind == Span::Kind::kHole) {
    ++holes;
    return;
  }
  if (span.kind == Span::Kind::kSlab) {
    for (Page page = span.first; page < span.end(); ++page)
      WEIR_CHECK_EQ(spans.find(page), &span);
    slabs.check_laws(*span.slab);
    granted_sum += SlabMap::granted_bytes(*span.slab);
    return;
  }
  WEIR_CHECK_LE(kSmallBytes, span.bytes);
  WEIR_CHECK_EQ((span.bytes + kPageBytes - 1) / kPageBytes, span.pages);
  granted_sum += span.bytes;
}

}  // namespace weir::place
