#include "place/slab_map.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace weir::place {
namespace {

constexpr std::uint32_t kClassCount = 64;

struct SizeClass {
  std::uint32_t slot_bytes = 0;
  std::uint32_t pages = 0;
  std::uint32_t slots = 0;
  std::uint64_t inverse = 0;  ///< ceil(2^32 / (slot_bytes / kAlignment)): divides exactly below 2^16 units.
};

/// 64 … 1,024 in steps of 64, then eight steps an octave up to 65,536.
constexpr std::uint32_t class_slot_bytes(std::uint32_t size_class) {
  if (size_class < 16) return (size_class + 1) * 64;
  const std::uint32_t octave = (size_class - 16) / 8;
  const std::uint32_t step = (size_class - 16) % 8 + 1;
  return (1024u << octave) + step * (128u << octave);
}

/// The length, within twice the shortest sensible one, that leaves the least of a slab unused.
constexpr SizeClass fitted(std::uint32_t slot_bytes) {
  constexpr std::uint32_t kPage = kPageBytes;
  const std::uint32_t least_slots = slot_bytes <= 8192 ? 8 : 4;
  const std::uint32_t shortest = std::max(4u, (least_slots * slot_bytes + kPage - 1) / kPage);
  SizeClass best;
  double best_share = 0;
  for (std::uint32_t pages = shortest; pages <= 2 * shortest; ++pages) {
    const std::uint32_t slots = std::min(pages * kPage / slot_bytes, Slab::kMostSlots);
    const double share = static_cast<double>(slots) * slot_bytes / (static_cast<double>(pages) * kPage);
    if (share > best_share + 0.01) {
      best_share = share;
      const std::uint64_t inverse = ((std::uint64_t{1} << 32) - 1) / (slot_bytes / kAlignment) + 1;
      best = {slot_bytes, pages, slots, inverse};
    }
  }
  return best;
}

constexpr auto kSizeClasses = [] {
  std::array<SizeClass, kClassCount> classes{};
  for (std::uint32_t i = 0; i < kClassCount; ++i)
    classes[i] = fitted(class_slot_bytes(i));
  return classes;
}();
static_assert(kSizeClasses.back().slot_bytes == kSmallBytes);

bool is_free(const Slab& slab, std::uint32_t slot) {
  return (slab.free_slots[slot / 64] >> (slot % 64) & 1) != 0;
}

}  // namespace

std::uint32_t SlabMap::class_of(std::uint64_t bytes) noexcept {
  if (bytes <= 1024) return bytes == 0 ? 0 : static_cast<std::uint32_t>((bytes - 1) / 64);
  const std::uint64_t last = bytes - 1;
  const auto octave = static_cast<std::uint32_t>(std::bit_width(last)) - 11;
  return 16 + octave * 8 + (static_cast<std::uint32_t>(last >> (octave + 7)) & 7);
}

std::uint32_t SlabMap::class_count() noexcept {
  return kClassCount;
}

std::uint64_t SlabMap::slot_bytes(std::uint32_t size_class) noexcept {
  return kSizeClasses[size_class].slot_bytes;
}

Page SlabMap::pages(std::uint32_t size_class) noexcept {
  return kSizeClasses[size_class].pages;
}

void SlabMap::reserve(std::uint32_t size_class) {
  if (spare_.empty()) {
    if (spare_.capacity() <= all_.size()) spare_.reserve(2 * all_.size() + 16);
    all_.push_back(std::make_unique<Slab>());
    spare_.push_back(all_.back().get());
  }
  std::vector<std::uint16_t>& sizes = spare_.back()->sizes;
  if (sizes.size() < kSizeClasses[size_class].slots) sizes.resize(kSizeClasses[size_class].slots);
}

void SlabMap::add(Span& span, std::uint32_t size_class) noexcept {
  Slab* slab = spare_.back();
  spare_.pop_back();
  slab->span = &span;
  slab->size_class = size_class;
  slab->taken = 0;
  const std::uint32_t slots = kSizeClasses[size_class].slots;
  for (std::uint32_t word = 0; word < slab->free_slots.size(); ++word) {
    const std::uint32_t here = slots > word * 64 ? std::min(slots - word * 64, 64u) : 0;
    slab->free_slots[word] = here == 0 ? 0 : ~std::uint64_t{0} >> (64 - here);
  }
  span.slab = slab;
  empty_[size_class] = slab;
  ++empty_count_;
}

Offset SlabMap::take(std::uint32_t size_class, std::uint64_t bytes) noexcept {
  Slab* slab = partial_[size_class];
  if (!slab) {
    slab = empty_[size_class];
    empty_[size_class] = nullptr;
    --empty_count_;
    link(*slab);
  }
  std::uint32_t word = 0;
  while (slab->free_slots[word] == 0)
    ++word;
  const std::uint32_t slot = word * 64 + static_cast<std::uint32_t>(std::countr_zero(slab->free_slots[word]));
  slab->free_slots[word] &= slab->free_slots[word] - 1;
  slab->sizes[slot] = static_cast<std::uint16_t>(bytes);
  if (++slab->taken == kSizeClasses[size_class].slots) unlink(*slab);
  return std::uint64_t{slab->span->first} * kPageBytes +
         std::uint64_t{slot} * kSizeClasses[size_class].slot_bytes;
}

std::optional<std::uint32_t> SlabMap::slot_at(const Span& span, Offset offset) noexcept {
  const SizeClass& size_class = kSizeClasses[span.slab->size_class];
  const std::uint64_t within = offset - std::uint64_t{span.first} * kPageBytes;
  const auto slot = static_cast<std::uint32_t>((within / kAlignment * size_class.inverse) >> 32);
  const bool starts = slot < size_class.slots && std::uint64_t{slot} * size_class.slot_bytes == within;
  return starts && !is_free(*span.slab, slot) ? std::optional(slot) : std::nullopt;
}

bool SlabMap::free(const Span& span, std::uint32_t slot, Tick now) noexcept {
  Slab& slab = *span.slab;
  const SizeClass& size_class = kSizeClasses[slab.size_class];
  slab.free_slots[slot / 64] |= std::uint64_t{1} << slot % 64;
  if (slab.taken-- == size_class.slots) link(slab);
  if (slab.taken > 0) return false;
  unlink(slab);
  if (!empty_[slab.size_class]) {
    empty_[slab.size_class] = &slab;
    ++empty_count_;
    slab.empty_since = now;
    return false;
  }
  spare_.push_back(&slab);
  return true;
}

Span* SlabMap::drop_empty(Tick before) noexcept {
  if (empty_count_ == 0) return nullptr;
  for (Slab*& empty : empty_) {
    if (!empty || empty->empty_since >= before) continue;
    Slab* slab = empty;
    empty = nullptr;
    --empty_count_;
    spare_.push_back(slab);
    return slab->span;
  }
  return nullptr;
}

void SlabMap::link(Slab& slab) noexcept {
  Slab*& head = partial_[slab.size_class];
  slab.before = nullptr;
  slab.after = head;
  if (head) head->before = &slab;
  head = &slab;
}

void SlabMap::unlink(Slab& slab) noexcept {
  (slab.before ? slab.before->after : partial_[slab.size_class]) = slab.after;
  if (slab.after) slab.after->before = slab.before;
}

std::uint64_t SlabMap::granted_bytes(const Slab& slab) noexcept {
  std::uint64_t sum = 0;
  for (std::uint32_t slot = 0; slot < kSizeClasses[slab.size_class].slots; ++slot)
    if (!is_free(slab, slot)) sum += slab.sizes[slot];
  return sum;
}

void SlabMap::check_laws(const Slab& slab) const {
  const SizeClass& size_class = kSizeClasses[slab.size_class];
  WEIR_CHECK_EQ(slab.span->slab, &slab);
  WEIR_CHECK_EQ(slab.span->pages, size_class.pages);
  std::uint32_t free = 0;
  for (const std::uint64_t word : slab.free_slots)
    free += static_cast<std::uint32_t>(std::popcount(word));
  WEIR_CHECK_EQ(free + slab.taken, size_class.slots);
  for (std::uint32_t slot = 0; slot < size_class.slots; ++slot)
    if (!is_free(slab, slot)) WEIR_CHECK_LE(slab.sizes[slot], size_class.slot_bytes);
  bool linked = false;
  for (const Slab* one = partial_[slab.size_class]; one && !linked; one = one->after)
    linked = one == &slab;
  WEIR_CHECK_EQ(linked, free > 0 && slab.taken > 0);
  WEIR_CHECK_EQ(empty_[slab.size_class] == &slab, slab.taken == 0);
}

}  // namespace weir::place
