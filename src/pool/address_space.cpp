#include "pool/address_space.h"

#include <sys/mman.h>
#include <algorithm>
#include <bit>
#include <new>

#include "pool/kernel_calls.h"

namespace weir::pool {
namespace {

using place::Granule;
using place::kAlignment;
using place::kGranuleBytes;
using place::kPageBytes;
using place::Offset;

constexpr std::uint64_t kSmallestReservation = 256ULL << 20;
constexpr std::uint64_t kRangeBytes = 64ULL << 20;
constexpr std::uint64_t kMostGranules = (1ULL << 23) - 1;  // placement numbers pages with 32 bits
constexpr const char* kName = "weir pool";
static_assert(kGranuleBytes / kAlignment / 8 == kPageBytes, "one page of bits a granule");

std::uint64_t whole_granules(std::uint64_t bytes) noexcept {
  return (bytes + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes;
}

std::size_t books_bytes(std::uint64_t granules) noexcept {
  const std::uint64_t bytes = granules * (kPageBytes + sizeof(GranuleBook));
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

/// The books from `first` on.
GranuleBook* books_of(const Range& range, Granule first) noexcept {
  return reinterpret_cast<GranuleBook*>(range.books + range.count * kPageBytes) + (first - range.first);
}

std::byte* granule_start(const Range& range, Granule granule) noexcept {
  return range.start + (granule - range.first) * kGranuleBytes;
}

/// The kernel aligns large mappings itself where it can; otherwise the ends are cut off.
std::byte* map_aligned(std::uint64_t bytes, int protection) noexcept {
  auto* start = static_cast<std::byte*>(kernel::map(bytes, protection));
  if (start == nullptr || reinterpret_cast<std::uintptr_t>(start) % kGranuleBytes == 0) return start;
  static_cast<void>(kernel::unmap(start, bytes));
  start = static_cast<std::byte*>(kernel::map(bytes + kGranuleBytes, protection));
  if (start == nullptr) return nullptr;
  const std::uint64_t head = kGranuleBytes - reinterpret_cast<std::uintptr_t>(start) % kGranuleBytes;
  static_cast<void>(kernel::unmap(start, head));
  if (head < kGranuleBytes) static_cast<void>(kernel::unmap(start + head + bytes, kGranuleBytes - head));
  return start + head;
}

int resting_protection(Charging charging) noexcept {
  return charging == Charging::kOnTouch ? PROT_READ | PROT_WRITE : PROT_NONE;
}

}  // namespace

AddressSpace::AddressSpace(const SpaceOptions& options) noexcept : options_(options) {
  if (options_.charging == Charging::kByGranule) options_.move = false;
  std::uint64_t bytes = std::min(whole_granules(options_.reserve_bytes), kMostGranules / 2 * kGranuleBytes);
  while (bytes >= kGranuleBytes && add_range(bytes) == nullptr)
    bytes = bytes / 2 < kSmallestReservation ? 0 : whole_granules(bytes / 2);
}

AddressSpace::~AddressSpace() {
  for (const Range& range : ranges_) {
    static_cast<void>(kernel::unmap(range.start, range.bytes()));
    static_cast<void>(kernel::unmap(range.books, books_bytes(range.count)));
  }
}

bool AddressSpace::map_range(std::uint64_t bytes, Range& range) noexcept {
  const std::uint64_t granules = bytes / kGranuleBytes;
  if (range.first + granules > kMostGranules) return false;
  range.count = static_cast<std::uint32_t>(granules);
  range.start = map_aligned(bytes, resting_protection(options_.charging));
  if (range.start == nullptr) return false;
  range.books = static_cast<std::byte*>(kernel::map(books_bytes(granules), PROT_READ | PROT_WRITE));
  if (range.books == nullptr) {
    static_cast<void>(kernel::unmap(range.start, bytes));
    return false;
  }
  if (options_.huge_pages) kernel::ask_huge_pages(range.start, bytes);
  kernel::name_for_maps(range.start, bytes, kName);
  kernel::name_for_maps(range.books, books_bytes(granules), kName);
  return true;
}

const Range* AddressSpace::add_range(std::uint64_t bytes) noexcept {
  if (bytes > kMostGranules * kGranuleBytes) return nullptr;
  try {
    ranges_.reserve(ranges_.size() + 1);
    by_address_.reserve(ranges_.size() + 1);
    index_addresses();  // they may have moved
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  Range range;
  range.first = ranges_.empty() ? 0 : ranges_.back().end() + 1;  // a gap: no run spans two ranges
  const std::uint64_t exact = whole_granules(std::max(bytes, kGranuleBytes));
  if (!(exact < kRangeBytes && map_range(kRangeBytes, range)) && !map_range(exact, range)) return nullptr;
  ranges_.push_back(range);
  index_addresses();
  return &ranges_.back();
}

void AddressSpace::remove_range(Granule first) noexcept {
  const auto range = std::find_if(ranges_.begin(), ranges_.end(),
                                  [first](const Range& each) { return each.first == first; });
  if (range == ranges_.end()) return;
  if (!kernel::unmap(range->start, range->bytes())) ++troubles_;
  if (!kernel::unmap(range->books, books_bytes(range->count))) ++troubles_;
  ranges_.erase(range);
  index_addresses();
}

void AddressSpace::index_addresses() noexcept {
  only_ = ranges_.size() == 1 ? &ranges_.front() : nullptr;
  by_address_.clear();
  for (std::uint32_t i = 0; i < ranges_.size(); ++i)
    by_address_.push_back(i);
  std::sort(by_address_.begin(), by_address_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return ranges_[a].start < ranges_[b].start; });
}

const Range& AddressSpace::search_range(Offset offset) const noexcept {
  const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), offset,
                                      [](Offset at, const Range& each) { return at < each.offset(); });
  return *(after - 1);
}

Range& AddressSpace::range_of_granule(Granule granule) noexcept {
  return const_cast<Range&>(range_of(granule * kGranuleBytes));
}

std::optional<Offset> AddressSpace::offset_in_ranges(const void* pointer) const noexcept {
  const auto* const at = static_cast<const std::byte*>(pointer);
  const auto after =
      std::upper_bound(by_address_.begin(), by_address_.end(), at,
                       [this](const std::byte* p, std::uint32_t each) { return p < ranges_[each].start; });
  if (after == by_address_.begin()) return std::nullopt;
  const Range& range = ranges_[*(after - 1)];
  const auto distance = static_cast<std::uint64_t>(at - range.start);
  if (distance >= range.bytes()) return std::nullopt;
  return range.offset() + distance;
}

std::uint64_t AddressSpace::size_of_books(const Range& range) noexcept {
  return books_bytes(range.count);
}

std::uint64_t AddressSpace::count_marks() const noexcept {
  std::uint64_t marks = 0;
  for (const Range& range : ranges_) {
    for (Granule granule = range.first; granule < range.end(); ++granule) {
      if (!books_of(range, granule)->backed) continue;  // no block starts there
      const std::byte* const bits = range.books + (granule - range.first) * kPageBytes;
      for (std::uint64_t at = 0; at < kPageBytes; at += sizeof(std::uint64_t))
        marks +=
            static_cast<std::uint64_t>(std::popcount(*reinterpret_cast<const std::uint64_t*>(bits + at)));
    }
  }
  return marks;
}

void AddressSpace::set_backed(Range& range, Granule first, std::uint32_t count, bool backed) noexcept {
  GranuleBook* const books = books_of(range, first);
  for (std::uint32_t i = 0; i < count; ++i)
    books[i].backed = backed;
  range.backed = backed ? range.backed + count : range.backed - count;
  backed_ = backed ? backed_ + count : backed_ - count;
}

bool AddressSpace::back(Granule first, std::uint32_t count) noexcept {
  Range& range = range_of_granule(first);
  if (options_.charging == Charging::kByGranule) {
    if (!kernel::make_usable(granule_start(range, first), count * kGranuleBytes)) return false;
  } else {
    const GranuleBook* const books = books_of(range, first);
    for (std::uint32_t i = 0; i < count; ++i)
      if (books[i].hole && !renew(range, first + i, 1)) return false;
  }
  set_backed(range, first, count, true);
  return true;
}

void AddressSpace::give_back(Granule first, std::uint32_t count) noexcept {
  Range& range = range_of_granule(first);
  const GranuleBook* const books = books_of(range, first);
  for (std::uint32_t i = 0; i < count;) {
    if (!books[i].backed) {
      ++i;
      continue;
    }
    std::uint32_t end = i + 1;
    while (end < count && books[end].backed && (books[end].displacement != 0) == (books[i].displacement != 0))
      ++end;
    drop_pages(range, first + i, end - i);
    set_backed(range, first + i, end - i, false);
    returned_bytes_ += (end - i) * kGranuleBytes;
    i = end;
  }
}

/// Pages where they were mapped first are discarded; displaced ones are mapped anew, so that they join their
/// neighbours again, as are those that must not stay writable.
void AddressSpace::drop_pages(Range& range, Granule first, std::uint32_t count) noexcept {
  const bool anew = options_.charging == Charging::kByGranule || books_of(range, first)->displacement != 0;
  const auto discarded = [&] { return kernel::discard(granule_start(range, first), count * kGranuleBytes); };
  if (!(anew ? renew(range, first, count) || discarded() : discarded() || renew(range, first, count)))
    ++troubles_;
}

bool AddressSpace::renew(Range& range, Granule first, std::uint32_t count) noexcept {
  std::byte* const start = granule_start(range, first);
  const std::uint64_t bytes = count * kGranuleBytes;
  if (!kernel::map_over(start, bytes, resting_protection(options_.charging))) return false;
  if (options_.huge_pages) kernel::ask_huge_pages(start, bytes);
  kernel::name_for_maps(start, bytes, kName);
  displace(range, first, count, 0);
  return true;
}

/// Neighbours whose displacements differ lie in different mappings.
void AddressSpace::displace(Range& range, Granule first, std::uint32_t count,
                            std::int32_t displacement) noexcept {
  GranuleBook* const books = books_of(range, range.first);
  const std::uint32_t begin = first - range.first;
  const auto edges = [&] {
    std::uint32_t found = 0;
    for (std::uint32_t i = std::max(begin, 1u); i < std::min(begin + count + 1, range.count); ++i)
      found += books[i].displacement != books[i - 1].displacement ? 1 : 0;
    return found;
  };
  cuts_ -= edges();
  for (std::uint32_t i = begin; i < begin + count; ++i) {
    books[i].displacement = displacement;
    books[i].hole = false;
  }
  cuts_ += edges();
}

bool AddressSpace::move(Granule from, Granule to, std::uint32_t count) noexcept {
  Range& source = range_of_granule(from);
  Range& target = range_of_granule(to);
  const GranuleBook* const books = books_of(source, from);
  bool usable = true;
  for (std::uint32_t done = 0; done < count;) {
    std::uint32_t end = done + 1;
    while (end < count && books[end].displacement == books[done].displacement)
      ++end;
    if (usable && move_run(source, from + done, target, to + done, end - done)) {
      set_backed(source, from + done, end - done, false);
      set_backed(target, to + done, end - done, true);
    } else {
      give_back(from + done, end - done);
      usable = usable && back(to + done, end - done);
    }
    done = end;
  }
  return usable;
}

/// A run that lies in one mapping. A failed move may have unmapped the target already.
bool AddressSpace::move_run(Range& source, Granule from, Range& target, Granule to,
                            std::uint32_t count) noexcept {
  if (!options_.move || cuts_ + ranges_.size() + 4 > options_.most_mappings) return false;
  std::byte* const source_start = granule_start(source, from);
  std::byte* const target_start = granule_start(target, to);
  const std::int64_t distance = (source_start - target_start) / static_cast<std::int64_t>(kGranuleBytes);
  const std::int64_t displacement = books_of(source, from)->displacement + distance;
  switch (kernel::move_pages(source_start, target_start, count * kGranuleBytes)) {
    case kernel::Moved::kDone:
      displace(target, to, count, static_cast<std::int32_t>(displacement));
      moved_bytes_ += count * kGranuleBytes;
      return true;
    case kernel::Moved::kUnsupported:
      options_.move = false;
      return false;
    case kernel::Moved::kFailed:
      ++troubles_;
      for (std::uint32_t i = 0; i < count; ++i)
        books_of(target, to)[i].hole = true;
      return false;
  }
  return false;
}

}  // namespace weir::pool
