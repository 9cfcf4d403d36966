#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace weir::llm {

/// The merges of byte-pair encoding. Immutable after the last `add`: usable from several threads, each with
/// its own Scratch.
class BytePairs {
 public:
  /// Working memory, kept between words so that a text does not allocate for each.
  struct Scratch {
    struct Symbol {
      std::int32_t id;  // -1: merged into the symbol before it
      std::int32_t previous;
      std::int32_t next;  // -1: the last one
    };
    std::vector<Symbol> symbols;
    std::vector<std::uint64_t> heap;  // rank << 32 | position of the left symbol
  };

  /// The next merge in rank order: a pair of ids and the id of both together. False if the pair has one
  /// already.
  bool add(std::int32_t left, std::int32_t right, std::int32_t merged);

  /// Merges the ids of one word's bytes, always the pair of the lowest rank, the leftmost of equals, until no
  /// pair is left, and appends the result. O(n log n) in the word's length. At most 2^31 - 1 ids.
  void merge(const std::vector<std::int32_t>& bytes, Scratch& scratch, std::vector<std::int32_t>& out) const;

 private:
  struct Merge {
    std::uint32_t rank;
    std::int32_t merged;
  };

  [[nodiscard]] const Merge* find(std::int32_t left, std::int32_t right) const;
  void offer(std::int32_t position, Scratch& scratch) const;
  void join(std::int32_t position, std::int32_t merged, Scratch& scratch) const;

  std::unordered_map<std::uint64_t, Merge> merges_;
};

}  // namespace weir::llm
