#include "llm/text/byte_pairs.h"

#include <algorithm>
#include <functional>

namespace weir::llm {
namespace {

std::uint64_t key_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
}

}  // namespace

bool BytePairs::add(std::int32_t left, std::int32_t right, std::int32_t merged) {
  const auto rank = static_cast<std::uint32_t>(merges_.size());
  return merges_.emplace(key_of(left, right), Merge{rank, merged}).second;
}

const BytePairs::Merge* BytePairs::find(std::int32_t left, std::int32_t right) const {
  const auto found = merges_.find(key_of(left, right));
  return found == merges_.end() ? nullptr : &found->second;
}

// Puts the pair that begins at `position` on the heap, if it is one.
void BytePairs::offer(std::int32_t position, Scratch& scratch) const {
  if (position < 0) return;
  const auto& left = scratch.symbols[static_cast<std::size_t>(position)];
  if (left.next < 0) return;
  const Merge* merge = find(left.id, scratch.symbols[static_cast<std::size_t>(left.next)].id);
  if (merge == nullptr) return;
  scratch.heap.push_back(std::uint64_t{merge->rank} << 32 | static_cast<std::uint32_t>(position));
  std::push_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
}

void BytePairs::join(std::int32_t position, std::int32_t merged, Scratch& scratch) const {
  auto& left = scratch.symbols[static_cast<std::size_t>(position)];
  auto& right = scratch.symbols[static_cast<std::size_t>(left.next)];
  left.id = merged;
  left.next = right.next;
  right.id = -1;
  if (left.next >= 0) scratch.symbols[static_cast<std::size_t>(left.next)].previous = position;
  offer(left.previous, scratch);
  offer(position, scratch);
}

void BytePairs::merge(const std::vector<std::int32_t>& bytes, Scratch& scratch,
                      std::vector<std::int32_t>& out) const {
  const auto count = static_cast<std::int32_t>(bytes.size());
  scratch.symbols.clear();
  scratch.heap.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    scratch.symbols.push_back({bytes[static_cast<std::size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  }
  for (std::int32_t i = 0; i < count; ++i)
    offer(i, scratch);
  while (!scratch.heap.empty()) {
    std::pop_heap(scratch.heap.begin(), scratch.heap.end(), std::greater<>());
    const std::uint64_t top = scratch.heap.back();
    scratch.heap.pop_back();
    const auto position = static_cast<std::int32_t>(top & 0xFFFFFFFFU);
    const auto& left = scratch.symbols[static_cast<std::size_t>(position)];
    if (left.id < 0 || left.next < 0) continue;
    // The pair may have changed since it was offered; then its own offer is on the heap too.
    const Merge* now = find(left.id, scratch.symbols[static_cast<std::size_t>(left.next)].id);
    if (now == nullptr || now->rank != top >> 32) continue;
    join(position, now->merged, scratch);
  }
  for (const auto& symbol : scratch.symbols) {
    if (symbol.id >= 0) out.push_back(symbol.id);
  }
}

}  // namespace weir::llm
