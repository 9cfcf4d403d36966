#pragma once

#include <cstdint>
#include <vector>

#include <boost/intrusive/set.hpp>

#include "place/lazy_array.h"
#include "place/span.h"

namespace weir::place {

/// Which pages are holes, blocks and slabs. Every page of a range belongs to exactly one span; two holes
/// never touch within a range. Not thread-safe. reserve() and add_range() may throw std::bad_alloc and then
/// have changed nothing; nothing else throws.
class SpanMap {
 public:
  struct SmallerFirst {
    bool operator()(const Span& a, const Span& b) const noexcept {
      return a.pages != b.pages ? a.pages < b.pages : a.first < b.first;
    }
    bool operator()(const Span& a, Page pages) const noexcept { return a.pages < pages; }
    bool operator()(Page pages, const Span& b) const noexcept { return pages < b.pages; }
  };
  using Holes = boost::intrusive::set<
      Span, boost::intrusive::compare<SmallerFirst>, boost::intrusive::constant_time_size<false>,
      boost::intrusive::member_hook<
          Span, boost::intrusive::set_member_hook<boost::intrusive::optimize_size<true>>, &Span::by_size>>;
  struct Range {
    Page first = 0;
    Page pages = 0;
  };

  SpanMap() = default;
  SpanMap(const SpanMap&) = delete;
  SpanMap& operator=(const SpanMap&) = delete;
  ~SpanMap() { holes_.clear(); }

  /// One hole more; above every range so far.
  void add_range(Page first, Page pages);
  /// The range that starts there; nullptr when none does.
  [[nodiscard]] const Range* range_at(Page first) const noexcept;
  /// Forgets a range that is one hole; false when it is not.
  bool remove_range(Page first) noexcept;
  [[nodiscard]] const std::vector<Range>& ranges() const noexcept { return ranges_; }

  /// Holes by size, equal ones by address.
  [[nodiscard]] Holes& holes() noexcept { return holes_; }
  [[nodiscard]] const Holes& holes() const noexcept { return holes_; }
  /// The smallest hole of at least `pages`, of equal ones the lowest.
  [[nodiscard]] Holes::iterator at_least(Page pages) noexcept;

  /// Makes the next take() of these pages safe.
  void reserve(const Span& hole, Page first, Page pages);
  /// Cuts pages out of a hole as a span of that kind.
  Span& take(Span& hole, Page first, Page pages, Span::Kind kind) noexcept;
  /// Makes a span a hole, joined with the holes beside it; returns the joined hole.
  Span& release(Span& span) noexcept;

  /// What begins at this page, or the slab around it; nullptr when neither.
  [[nodiscard]] Span* find(Page page) const noexcept;

 private:
  [[nodiscard]] bool starts_range(Page page) const noexcept;
  [[nodiscard]] Span* hole_before(Page page) const noexcept;
  [[nodiscard]] Span* hole_after(Page page) const noexcept;
  void insert_hole(Span& span, Page first, Page pages) noexcept;
  /// Gives a hole in the index new bounds.
  void resize(Span& hole, Page first, Page pages) noexcept;
  void mark(Span& span) noexcept;

  SpanStore store_;
  /// The span that starts or ends at a page, or the slab around it. Entries inside a span may be stale: what
  /// they point to is checked against the page.
  LazyArray<Span*, 64 * kPagesPerGranule> by_page_;
  std::vector<bool> range_starts_;  ///< By granule.
  std::vector<Range> ranges_;
  Holes holes_;
};

}  // namespace weir::place
