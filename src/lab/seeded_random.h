#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace weir::lab {

/// Splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine and compiler, which std::shuffle
/// does not promise. For lots and schedules, not for secrets.
class SeededRandom {
 public:
  explicit SeededRandom(std::uint64_t seed) noexcept : state_(seed) {}

  [[nodiscard]] std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), without bias. bound >= 1.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) noexcept {
    const std::uint64_t reject_under = (0 - bound) % bound;
    std::uint64_t value = next();
    while (value < reject_under)
      value = next();
    return value % bound;
  }

  /// Fisher-Yates.
  template <class T>
  void shuffle(std::vector<T>& items) noexcept {
    for (std::size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[below(i)]);
  }

 private:
  std::uint64_t state_;
};

/// A seed of its own for each (purpose, index): neighbours share nothing.
[[nodiscard]] inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t purpose,
                                                std::uint64_t index) noexcept {
  return SeededRandom(SeededRandom(SeededRandom(seed).next() ^ purpose).next() ^ index).next();
}

}  // namespace weir::lab
