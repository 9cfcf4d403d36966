#include "place/lifetimes.h"

#include <algorithm>
#include <bit>

namespace weir::place {
namespace {

constexpr std::uint16_t kMemory = 16;  ///< Grants after which what was seen weighs half.

}  // namespace

std::size_t Lifetimes::bucket_of(Page pages) noexcept {
  if (pages < 8) return pages;
  const auto octave = static_cast<std::size_t>(std::bit_width(pages)) - 4;
  return 8 + octave * 8 + (pages >> octave & 7);
}

bool Lifetimes::is_short(Page pages) const noexcept {
  const Bucket& bucket = buckets_[bucket_of(pages)];
  return bucket.short_ends > 0 && 2 * bucket.short_ends >= bucket.grants;
}

void Lifetimes::granted(Page pages) noexcept {
  Bucket& bucket = buckets_[bucket_of(pages)];
  if (++bucket.grants < kMemory) return;
  bucket.grants /= 2;
  bucket.short_ends /= 2;
}

void Lifetimes::ended(Page pages, std::uint64_t events) noexcept {
  if (events > kShort) return;
  Bucket& bucket = buckets_[bucket_of(pages)];
  bucket.short_ends = std::min<std::uint16_t>(bucket.short_ends + 1, bucket.grants);
}

}  // namespace weir::place
