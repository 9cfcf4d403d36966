#pragma once

#include <array>
#include <cstdint>

#include "place/span.h"

namespace weir::place {

/// Which sizes are short-lived, learned from the blocks seen so far. A bucket is an eighth of an octave; it
/// counts grants and how many of them ended within kShort events, recent ones weighing more. A size not seen
/// yet is long-lived: what a process grants first stays.
class Lifetimes {
 public:
  static constexpr std::uint64_t kShort = 256;  ///< Events: what one or two layers of a model grant and free.

  [[nodiscard]] bool is_short(Page pages) const noexcept;
  void granted(Page pages) noexcept;
  /// A block ended after `events` grants and frees.
  void ended(Page pages, std::uint64_t events) noexcept;

 private:
  struct Bucket {
    std::uint16_t grants = 0;
    std::uint16_t short_ends = 0;
  };
  [[nodiscard]] static std::size_t bucket_of(Page pages) noexcept;

  std::array<Bucket, 256> buckets_{};
};

}  // namespace weir::place
