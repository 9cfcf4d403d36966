#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ledger/layers.h"

namespace weir::ledger {

/// While it lives, `read_own_layers` counts its memory as identified, under its name. Movable; thread-safe to
/// make, move and destroy from any thread.
class NotedMemory {
 public:
  NotedMemory(NotedMemory&& other) noexcept;
  NotedMemory& operator=(NotedMemory&&) = delete;
  ~NotedMemory();

 private:
  friend NotedMemory note_own_mapping(std::string, const void*, std::int64_t);
  friend NotedMemory note_own_bytes(std::string, std::int64_t);
  explicit NotedMemory(std::uint64_t id) noexcept : id_(id) {}

  std::uint64_t id_;
};

/// Notes an anonymous mapping that the caller made with mmap; its resident pages are counted at each reading
/// (mincore: a page in swap is not). `address` is page-aligned. Forget it before it is unmapped. Never note
/// memory that came from malloc: the heap already counts it.
[[nodiscard]] NotedMemory note_own_mapping(std::string name, const void* address, std::int64_t bytes);

/// Notes a number that the caller measured, for memory whose addresses it cannot know: for example what
/// RssAnon grew by around the first call into a BLAS that maps its own work buffers. Counted as given.
[[nodiscard]] NotedMemory note_own_bytes(std::string name, std::int64_t bytes);

/// All that is noted now, equal names joined, in the order of their first note.
[[nodiscard]] std::vector<IdentifiedPart> noted_parts();

}  // namespace weir::ledger
