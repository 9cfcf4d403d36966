#include "ledger/process_parts.h"

#include <algorithm>

namespace weir::ledger {
namespace {

/// HEAP_MAX_SIZE of glibc on 64-bit machines: every heap of a thread arena is aligned to it.
constexpr std::uint64_t kArenaHeapBytes = 64ull << 20;
constexpr std::string_view kMallocName = "[anon: glibc: malloc";
constexpr std::string_view kArenaName = "[anon: glibc: malloc arena";
constexpr std::string_view kStackName = "[anon: glibc: pthread stack";
constexpr std::string_view kPoolName = "[anon:weir pool]";
constexpr std::string_view kNamedPrefix = "[anon:";

bool is_unnamed_writable(const Mapping& mapping) {
  return mapping.is_unnamed() && mapping.permissions == "rw-p";
}

/// `ranges` are sorted by their start and may overlap no more than load segments do.
bool is_inside(const Mapping& mapping, const std::vector<AddressRange>& ranges) {
  auto range = std::upper_bound(ranges.begin(), ranges.end(), mapping.start,
                                [](std::uint64_t at, const AddressRange& one) { return at < one.start; });
  // The pages where two segments of an object meet belong to both.
  for (int steps = 0; steps < 2 && range != ranges.begin(); ++steps)
    if ((--range)->end >= mapping.end) return true;
  return false;
}

bool is_thread_arena(const Mapping& mapping, const Mapping* next) {
  if (!is_unnamed_writable(mapping) || mapping.start % kArenaHeapBytes != 0) return false;
  if (mapping.end % kArenaHeapBytes == 0) return true;
  return next != nullptr && next->is_unnamed() && next->permissions == "---p" && next->start == mapping.end &&
         next->end % kArenaHeapBytes == 0 && next->size() < kArenaHeapBytes;
}

bool is_thread_stack(const Mapping& mapping, const AddressEvidence& evidence) {
  if (!is_unnamed_writable(mapping) || mapping.size() > evidence.largest_stack_bytes) return false;
  return std::any_of(evidence.stack_pointers.begin(), evidence.stack_pointers.end(),
                     [&](std::uint64_t at) { return mapping.start <= at && at < mapping.end; });
}

/// True where the mapping touches the pool's range, or bears the name of a pool without one range.
bool add_to_pool(const Mapping& mapping, const AddressRange& pool, ProcessParts& parts) {
  if (pool.start == pool.end && mapping.name == kPoolName) {
    parts.pool = parts.pool.value_or(0) + mapping.held();
    return true;
  }
  if (mapping.end <= pool.start || pool.end <= mapping.start) return false;
  const bool is_whole = pool.start <= mapping.start && mapping.end <= pool.end;
  if (!is_whole && mapping.held() > 0) parts.pool.reset();
  if (parts.pool) *parts.pool += mapping.held();
  return true;
}

void add_to_arenas(const Mapping& mapping, ProcessParts& parts) {
  parts.heap_arenas += mapping.held();
  parts.heap_arena_addresses += static_cast<std::int64_t>(mapping.size());
}

/// True where the name alone settles it.
bool add_by_name(const Mapping& mapping, ProcessParts& parts) {
  if (mapping.inode != 0) {
    parts.library_data += mapping.held();
  } else if (mapping.name == "[stack]") {
    parts.main_stack += mapping.held();
  } else if (mapping.name == "[heap]" || mapping.name.starts_with(kArenaName)) {
    add_to_arenas(mapping, parts);
  } else if (mapping.name.starts_with(kStackName)) {
    parts.thread_stacks += mapping.held();
  } else if (mapping.name.starts_with(kNamedPrefix)) {
    // Blocks that malloc maps on their own are counted by the heap statistics.
    if (!mapping.name.starts_with(kMallocName) && mapping.held() > 0)
      parts.named[mapping.name] += mapping.held();
  } else {
    return !mapping.name.empty();
  }
  return true;
}

}  // namespace

PartsFinder::PartsFinder(const AddressEvidence& evidence, Rest rest)
    : evidence_(evidence), objects_(evidence.objects), rest_(std::move(rest)) {
  std::sort(objects_.begin(), objects_.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
  if (evidence.pool.start < evidence.pool.end) parts_.pool = 0;
}

void PartsFinder::add(const Mapping& mapping) {
  if (has_current_) settle(&mapping);
  std::swap(before_, current_);
  current_ = mapping;
  has_current_ = true;
}

ProcessParts PartsFinder::finish() {
  if (has_current_) settle(nullptr);
  has_current_ = false;
  return std::move(parts_);
}

void PartsFinder::settle(const Mapping* next) {
  const Mapping& mapping = current_;
  if (add_to_pool(mapping, evidence_.pool, parts_)) return;
  if (add_by_name(mapping, parts_)) return;
  if (is_inside(mapping, objects_)) {
    parts_.library_zeroed += mapping.held();
  } else if (is_thread_arena(mapping, next)) {
    add_to_arenas(mapping, parts_);
  } else if (rest_ && is_unnamed_writable(mapping) && rest_(mapping, before_, parts_)) {
    return;
  } else if (is_thread_stack(mapping, evidence_)) {
    parts_.thread_stacks += mapping.held();
  }
}

ProcessParts find_process_parts(const std::vector<Mapping>& mappings, const AddressEvidence& evidence) {
  PartsFinder finder(evidence);
  for (const Mapping& mapping : mappings)
    finder.add(mapping);
  return finder.finish();
}

}  // namespace weir::ledger
