#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace weir::place {

/// A long array of which little is used: chunks of kChunk values come into being (zeroed) when they are asked
/// for, and stay. Values never move. Not thread-safe.
template <class T, std::size_t kChunk>
class LazyArray {
 public:
  /// Makes room for indexes up to `count`; throws std::bad_alloc and then has changed nothing.
  void extend(std::size_t count) {
    const std::size_t chunks = (count + kChunk - 1) / kChunk;
    if (chunks > chunks_.size()) chunks_.resize(chunks);
  }
  /// Makes the values [first, last] exist, within what extend() made room for; throws std::bad_alloc.
  void ensure(std::size_t first, std::size_t last) {
    for (std::size_t chunk = first / kChunk; chunk <= last / kChunk; ++chunk)
      if (!chunks_[chunk]) chunks_[chunk] = std::make_unique<T[]>(kChunk);
  }
  /// The value, which must exist.
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return chunks_[index / kChunk][index % kChunk]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
    return chunks_[index / kChunk][index % kChunk];
  }
  /// The value, or T{} where none exists yet.
  [[nodiscard]] T get(std::size_t index) const noexcept {
    const std::size_t chunk = index / kChunk;
    return chunk < chunks_.size() && chunks_[chunk] ? chunks_[chunk][index % kChunk] : T{};
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
};

}  // namespace weir::place
