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

bool is_inside(const Mapping& mapping, const std::vector<AddressRange>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const AddressRange& range) {
    return range.start <= mapping.start && mapping.end <= range.end;
  });
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

/// True where the name alone settles it.
bool add_by_name(const Mapping& mapping, ProcessParts& parts) {
  if (mapping.inode != 0) {
    parts.library_data += mapping.held();
  } else if (mapping.name == "[stack]") {
    parts.main_stack += mapping.held();
  } else if (mapping.name == "[heap]" || mapping.name.starts_with(kArenaName)) {
    parts.heap_arenas += mapping.held();
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

ProcessParts find_process_parts(const std::vector<Mapping>& mappings, const AddressEvidence& evidence) {
  ProcessParts parts;
  if (evidence.pool.start < evidence.pool.end) parts.pool = 0;
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    const Mapping& mapping = mappings[i];
    const Mapping* next = i + 1 < mappings.size() ? &mappings[i + 1] : nullptr;
    if (add_to_pool(mapping, evidence.pool, parts)) continue;
    if (add_by_name(mapping, parts)) continue;
    if (is_inside(mapping, evidence.objects)) {
      parts.library_zeroed += mapping.held();
    } else if (is_thread_arena(mapping, next)) {
      parts.heap_arenas += mapping.held();
    } else if (is_thread_stack(mapping, evidence)) {
      parts.thread_stacks += mapping.held();
    }
  }
  return parts;
}

}  // namespace weir::ledger
