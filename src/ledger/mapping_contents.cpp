#include "ledger/mapping_contents.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace weir::ledger {
namespace {

constexpr std::uint64_t kLargestMainThreadData = 256u << 10;
// BUFFER_SIZE of OpenBLAS, over its architectures and versions
constexpr std::uint64_t kSmallestBlasBuffer = 1u << 20;
constexpr std::uint64_t kLargestBlasBuffer = 128u << 20;
constexpr std::string_view kGuard = "---p";

bool starts_earlier(const AddressRange& a, const AddressRange& b) {
  return a.start < b.start;
}

std::uint64_t page_end(std::uint64_t address) {
  return address / kMemoryPageBytes * kMemoryPageBytes + kMemoryPageBytes;
}

bool is_guarded(const Mapping& mapping, const Mapping& before) {
  return before.end == mapping.start && before.permissions == kGuard && before.is_unnamed();
}

}  // namespace

MappingContents::MappingContents(const AddressEvidence& evidence, IOwnMemory& memory,
                                 std::int64_t mapped_bytes)
    : evidence_(evidence),
      memory_(memory),
      objects_(evidence.objects),
      unseen_mapped_bytes_(mapped_bytes),
      states_(kStep),
      heads_(kLookAhead) {
  std::sort(objects_.begin(), objects_.end(), starts_earlier);
  ahead_.reserve(kLookAhead);
}

bool MappingContents::give(const Mapping& mapping, const Mapping& before, ProcessParts& parts) {
  std::fill(std::begin(held_), std::end(held_), 0);
  mapped_addresses_ = 0;
  find_pieces(mapping, before);
  const bool is_one =
      pieces_.size() == 1 && pieces_[0].range.start == mapping.start && pieces_[0].range.end == mapping.end;
  if (is_one) {
    held_[static_cast<std::size_t>(pieces_[0].owner)] = mapping.held();
  } else if (mapping.held() > 0 && !walk(mapping)) {
    return false;
  }
  credit(mapping, parts);
  // Its stack pointers, if any, are of threads whose stacks nothing bounds.
  return std::any_of(std::begin(held_), std::end(held_), [](std::int64_t bytes) { return bytes > 0; });
}

void MappingContents::find_pieces(const Mapping& mapping, const Mapping& before) {
  pieces_.clear();
  add_stacks(mapping, before);
  add_ranges(mapping, evidence_.books, Owner::kBooks);
  add_ranges(mapping, objects_, Owner::kZeroed);
  add_blas_buffers(mapping);
  std::stable_sort(pieces_.begin(), pieces_.end(),
                   [](const Piece& a, const Piece& b) { return starts_earlier(a.range, b.range); });
  // Where two overlap, the later one begins where the earlier ends.
  std::uint64_t end = 0;
  for (Piece& piece : pieces_) {
    piece.range.start = std::max(piece.range.start, end);
    end = std::max(end, piece.range.end);
  }
  std::erase_if(pieces_, [](const Piece& piece) { return piece.range.start >= piece.range.end; });
}

void MappingContents::add_stacks(const Mapping& mapping, const Mapping& before) {
  const auto& blocks = evidence_.thread_blocks;
  const auto block = std::lower_bound(blocks.begin(), blocks.end(), mapping.start);
  if (block == blocks.end() || *block >= mapping.end) return;
  if (is_guarded(mapping, before)) {
    pieces_.push_back({{mapping.start, page_end(*block)}, Owner::kStack});
  } else if (mapping.size() <= kLargestMainThreadData) {
    pieces_.push_back({{mapping.start, mapping.end}, Owner::kMainThread});
  }
}

void MappingContents::add_ranges(const Mapping& mapping, const std::vector<AddressRange>& ranges,
                                 Owner owner) {
  auto range = std::lower_bound(ranges.begin(), ranges.end(), AddressRange{mapping.start, 0}, starts_earlier);
  // One may reach in from below.
  if (range != ranges.begin()) --range;
  for (; range != ranges.end() && range->start < mapping.end; ++range) {
    const AddressRange common{std::max(range->start, mapping.start), std::min(range->end, mapping.end)};
    if (common.start < common.end) pieces_.push_back({common, owner});
  }
}

void MappingContents::add_blas_buffers(const Mapping& mapping) {
  const auto& all = evidence_.blas_buffers;
  auto one = std::lower_bound(all.begin(), all.end(), AddressRange{mapping.start, 0}, starts_earlier);
  for (; one != all.end() && one->start < mapping.end; ++one) {
    const std::uint64_t room = mapping.end - one->start;
    // Its sizes are powers of two; what lies above it in the mapping was there before it.
    const std::uint64_t bytes =
        one->end > one->start ? one->end - one->start : std::min(std::bit_floor(room), kLargestBlasBuffer);
    if (bytes >= kSmallestBlasBuffer && bytes <= room)
      pieces_.push_back({{one->start, one->start + bytes}, Owner::kBlas});
  }
}

bool MappingContents::walk(const Mapping& mapping) {
  piece_ = 0;
  claim_ = {};
  for (std::uint64_t start = mapping.start; start < mapping.end;) {
    const std::uint64_t pages = std::min(kStep, (mapping.end - start) / kMemoryPageBytes);
    if (pages == 0) return true;
    if (!memory_.page_states(start, std::span(states_).first(pages))) return false;
    walk_step(mapping, start, pages);
    start += pages * kMemoryPageBytes;
  }
  return true;
}

void MappingContents::walk_step(const Mapping& mapping, std::uint64_t start, std::size_t pages) {
  ahead_.clear();
  for (std::size_t i = 0; i < pages; ++i) {
    if (states_[i] == PageState::kNone) continue;
    const Owner owner = owner_of(mapping, start, i, pages);
    held_[static_cast<std::size_t>(owner)] += static_cast<std::int64_t>(kMemoryPageBytes);
  }
}

MappingContents::Owner MappingContents::owner_of(const Mapping& mapping, std::uint64_t start,
                                                 std::size_t index, std::size_t pages) {
  const std::uint64_t page = start + index * kMemoryPageBytes;
  if (const Piece* piece = piece_at(page)) return piece->owner;
  if (claim_.range.contains(page)) return claim_.owner;
  if (states_[index] != PageState::kPresent) return Owner::kNobody;
  const PageHead* head = head_of(start, index, pages);
  if (head == nullptr) return Owner::kNobody;
  recognise(mapping, page, *head);
  return claim_.range.contains(page) ? claim_.owner : Owner::kNobody;
}

/// Addresses must rise from call to call.
const MappingContents::Piece* MappingContents::piece_at(std::uint64_t address) {
  while (piece_ < pieces_.size() && pieces_[piece_].range.end <= address)
    ++piece_;
  if (piece_ == pieces_.size() || !pieces_[piece_].range.contains(address)) return nullptr;
  return &pieces_[piece_];
}

/// Reads the heads of this page and of the next ones that nobody owns so far, to save system calls.
const PageHead* MappingContents::head_of(std::uint64_t start, std::size_t index, std::size_t pages) {
  const std::uint64_t page = start + index * kMemoryPageBytes;
  auto found = std::lower_bound(ahead_.begin(), ahead_.end(), page);
  if (found == ahead_.end() || *found != page) {
    ahead_.clear();
    std::size_t piece = piece_;
    for (std::size_t i = index; i < pages && ahead_.size() < kLookAhead; ++i) {
      const std::uint64_t at = start + i * kMemoryPageBytes;
      while (piece < pieces_.size() && pieces_[piece].range.end <= at)
        ++piece;
      const bool is_owned = piece < pieces_.size() && pieces_[piece].range.contains(at);
      if (states_[i] == PageState::kPresent && !is_owned) ahead_.push_back(at);
    }
    if (heads_read_ + ahead_.size() > kMostHeads) {
      ahead_.clear();
      return nullptr;
    }
    heads_read_ += ahead_.size();
    memory_.heads(ahead_, std::span(heads_).first(ahead_.size()));
    found = ahead_.begin();
  }
  return &heads_[static_cast<std::size_t>(found - ahead_.begin())];
}

void MappingContents::recognise(const Mapping& mapping, std::uint64_t page, const PageHead& head) {
  const std::uint64_t room = mapping.end - page;
  if (const std::uint64_t bytes = python_pool_bytes(head, page); bytes != 0 && bytes <= room) {
    claim_ = {{page, page + bytes}, Owner::kPython};
    return;
  }
  const auto most =
      std::min(room, static_cast<std::uint64_t>(std::max<std::int64_t>(0, unseen_mapped_bytes_)));
  if (const std::uint64_t bytes = mapped_block_bytes(head, most); bytes != 0) {
    claim_ = {{page, page + bytes}, Owner::kMalloc};
    unseen_mapped_bytes_ -= static_cast<std::int64_t>(bytes);
    mapped_addresses_ += static_cast<std::int64_t>(bytes);
  }
}

void MappingContents::credit(const Mapping& mapping, ProcessParts& parts) {
  held_[static_cast<std::size_t>(Owner::kNobody)] = 0;
  // Pages of zeros that were only read look present and are charged to nobody.
  const std::int64_t excess =
      std::accumulate(std::begin(held_), std::end(held_), std::int64_t{0}) - mapping.held();
  if (excess > 0) {
    std::int64_t& largest = *std::max_element(std::begin(held_), std::end(held_));
    largest = std::max<std::int64_t>(0, largest - excess);
  }
  const auto of = [this](Owner owner) { return held_[static_cast<std::size_t>(owner)]; };
  parts.thread_stacks += of(Owner::kStack);
  parts.main_thread_data += of(Owner::kMainThread);
  parts.blas_buffers += of(Owner::kBlas);
  parts.books += of(Owner::kBooks);
  parts.library_zeroed += of(Owner::kZeroed);
  parts.python_objects += of(Owner::kPython);
  parts.mapped_blocks.held += of(Owner::kMalloc);
  parts.mapped_blocks.bytes += mapped_addresses_;
}

}  // namespace weir::ledger
