#include "place/span_map.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace weir::place {

void SpanMap::add_range(Page first, Page pages) {
  WEIR_CHECK(pages > 0);
  if (!ranges_.empty()) WEIR_CHECK_LE(ranges_.back().first + ranges_.back().pages, first);
  store_.reserve(1);
  by_page_.extend(std::size_t{first} + pages);
  by_page_.ensure(first, first);
  by_page_.ensure(first + pages - 1, first + pages - 1);
  if (range_starts_.size() <= first / kPagesPerGranule) range_starts_.resize(first / kPagesPerGranule + 1);
  ranges_.push_back({first, pages});
  range_starts_[first / kPagesPerGranule] = true;
  Span& hole = *store_.take();
  hole.first = first;
  hole.pages = pages;
  hole.kind = Span::Kind::kHole;
  mark(hole);
  holes_.insert(hole);
}

const SpanMap::Range* SpanMap::range_at(Page first) const noexcept {
  const auto found = std::find_if(ranges_.begin(), ranges_.end(),
                                  [first](const Range& range) { return range.first == first; });
  return found == ranges_.end() ? nullptr : &*found;
}

bool SpanMap::remove_range(Page first) noexcept {
  const Range* range = range_at(first);
  Span* hole = by_page_.get(first);
  if (!range || hole->kind != Span::Kind::kHole || hole->first != first || hole->pages != range->pages)
    return false;
  holes_.erase(holes_.iterator_to(*hole));
  by_page_[first] = by_page_[hole->end() - 1] = nullptr;
  store_.give_back(hole);
  range_starts_[first / kPagesPerGranule] = false;
  ranges_.erase(ranges_.begin() + (range - ranges_.data()));
  return true;
}

SpanMap::Holes::iterator SpanMap::at_least(Page pages) noexcept {
  return holes_.lower_bound(pages, SmallerFirst{});
}

void SpanMap::reserve(const Span& hole, Page first, Page pages) {
  store_.reserve(2);
  by_page_.ensure(first > hole.first ? first - 1 : first, first);
  const Page end = first + pages;
  by_page_.ensure(end - 1, end < hole.end() ? end : end - 1);
}

Span& SpanMap::take(Span& hole, Page first, Page pages, Span::Kind kind) noexcept {
  const Page end = first + pages;
  const Page hole_end = hole.end();
  Span* span = &hole;
  if (hole.first == first && hole_end == end) {
    holes_.erase(holes_.iterator_to(hole));
  } else {
    span = store_.take();
    if (first == hole.first) {
      resize(hole, end, hole_end - end);
    } else {
      resize(hole, hole.first, first - hole.first);
      if (end < hole_end) insert_hole(*store_.take(), end, hole_end - end);
    }
  }
  span->first = first;
  span->pages = pages;
  span->kind = kind;
  mark(*span);
  return *span;
}

Span& SpanMap::release(Span& span) noexcept {
  Span* before = hole_before(span.first);
  Span* after = hole_after(span.end());
  if (!before && !after) {
    insert_hole(span, span.first, span.pages);
    return span;
  }
  const Page first = before ? before->first : span.first;
  const Page end = after ? after->end() : span.end();
  // The larger hole moves least in the index.
  Span* stays = !before ? after : !after || before->pages >= after->pages ? before : after;
  if (before && after) {
    Span* goes = stays == before ? after : before;
    holes_.erase(holes_.iterator_to(*goes));
    store_.give_back(goes);
  }
  store_.give_back(&span);
  resize(*stays, first, end - first);
  return *stays;
}

Span* SpanMap::find(Page page) const noexcept {
  Span* span = by_page_.get(page);
  if (!span || page < span->first || page >= span->end()) return nullptr;
  const bool covers =
      span->kind == Span::Kind::kSlab || (span->kind != Span::Kind::kUnused && span->first == page);
  return covers ? span : nullptr;
}

bool SpanMap::starts_range(Page page) const noexcept {
  return page % kPagesPerGranule == 0 && page / kPagesPerGranule < range_starts_.size() &&
         range_starts_[page / kPagesPerGranule];
}

Span* SpanMap::hole_before(Page page) const noexcept {
  if (starts_range(page)) return nullptr;
  Span* span = by_page_[page - 1];
  return span->kind == Span::Kind::kHole ? span : nullptr;
}

Span* SpanMap::hole_after(Page page) const noexcept {
  if (starts_range(page)) return nullptr;
  Span* span = by_page_.get(page);
  return span && span->kind == Span::Kind::kHole && span->first == page ? span : nullptr;
}

void SpanMap::insert_hole(Span& span, Page first, Page pages) noexcept {
  span.first = first;
  span.pages = pages;
  span.kind = Span::Kind::kHole;
  mark(span);
  holes_.insert(span);
}

void SpanMap::resize(Span& hole, Page first, Page pages) noexcept {
  const auto here = holes_.iterator_to(hole);
  const auto next = std::next(here);
  Span changed;
  changed.first = first;
  changed.pages = pages;
  const bool order_holds = (here == holes_.begin() || SmallerFirst{}(*std::prev(here), changed)) &&
                           (next == holes_.end() || SmallerFirst{}(changed, *next));
  if (!order_holds) holes_.erase(here);
  hole.first = first;
  hole.pages = pages;
  mark(hole);
  if (!order_holds) holes_.insert(hole);
}

void SpanMap::mark(Span& span) noexcept {
  if (span.kind == Span::Kind::kSlab) {
    for (Page page = span.first; page < span.end(); ++page)
      by_page_[page] = &span;
    return;
  }
  by_page_[span.first] = &span;
  by_page_[span.end() - 1] = &span;
}

}  // namespace weir::place
