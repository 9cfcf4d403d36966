#pragma once

#include <cstdint>
#include <vector>

#include "ledger/i_own_memory.h"
#include "ledger/process_parts.h"

namespace weir::ledger {

/// Whose the pages of unnamed writable mappings are, by positive signs alone. The kernel joins neighbours
/// into one mapping, so a mapping may hold several owners and each page is judged by itself:
///   stacks       from a guard up to the end of the page with a thread's control block
///   BLAS         `blas_buffers`
///   books, .bss  `books`, `objects`
///   main thread  the page with its control block, in a mapping of at most 256 KiB without a guard
///   Python       pools whose heads agree with themselves (block_heads.h)
///   malloc       blocks whose header says that malloc mapped them, together at most what malloc counts
/// Pages that bear no sign stay in no part. Bounded: at most kMostHeads heads are read, over all mappings.
/// Not thread-safe.
class MappingContents {
 public:
  /// `mapped_bytes`: what malloc says of its blocks with mappings of their own. All must outlive this.
  MappingContents(const AddressEvidence& evidence, IOwnMemory& memory, std::int64_t mapped_bytes);

  /// PartsFinder::Rest.
  bool give(const Mapping& mapping, const Mapping& before, ProcessParts& parts);

  static constexpr std::size_t kMostHeads = 2u << 20;

 private:
  enum class Owner : std::uint8_t { kNobody, kStack, kMainThread, kBlas, kBooks, kZeroed, kPython, kMalloc };
  static constexpr std::size_t kOwners = 8;
  struct Piece {
    AddressRange range;
    Owner owner;
  };
  static constexpr std::uint64_t kStep = 1024;  // pages looked at together
  static constexpr std::size_t kLookAhead = 64;

  void find_pieces(const Mapping& mapping, const Mapping& before);
  void add_stacks(const Mapping& mapping, const Mapping& before);
  void add_ranges(const Mapping& mapping, const std::vector<AddressRange>& ranges, Owner owner);
  void add_blas_buffers(const Mapping& mapping);
  [[nodiscard]] bool walk(const Mapping& mapping);
  void walk_step(const Mapping& mapping, std::uint64_t start, std::size_t pages);
  [[nodiscard]] Owner owner_of(const Mapping& mapping, std::uint64_t start, std::size_t index,
                               std::size_t pages);
  [[nodiscard]] const Piece* piece_at(std::uint64_t address);
  [[nodiscard]] const PageHead* head_of(std::uint64_t start, std::size_t index, std::size_t pages);
  void recognise(const Mapping& mapping, std::uint64_t page, const PageHead& head);
  void credit(const Mapping& mapping, ProcessParts& parts);

  const AddressEvidence& evidence_;
  IOwnMemory& memory_;
  std::vector<AddressRange> objects_;  // sorted
  std::int64_t unseen_mapped_bytes_;
  std::size_t heads_read_ = 0;

  // of the mapping at hand
  std::vector<Piece> pieces_;  // sorted, apart
  std::size_t piece_ = 0;
  Piece claim_{};  // the latest that a head made
  std::int64_t held_[kOwners] = {};
  std::int64_t mapped_addresses_ = 0;

  std::vector<PageState> states_;
  std::vector<std::uint64_t> ahead_;  // pages whose heads were read, rising
  std::vector<PageHead> heads_;
};

}  // namespace weir::ledger
