#pragma once

#include <cstdint>

#include "base/error.h"

namespace weir::ledger {

/// What glibc's malloc says about itself, over all arenas (mallinfo2), in bytes. Blocks in per-thread caches
/// count as in use; bytes that a trim gave back to the kernel stay in `free_bytes`, so free is not the same
/// as physical.
struct HeapStatistics {
  std::int64_t arena_bytes = 0;   ///< Taken from the kernel for all arenas.
  std::int64_t in_use_bytes = 0;  ///< Blocks inside arenas, with their headers.
  std::int64_t free_bytes = 0;    ///< Free blocks inside arenas.
  std::int64_t mapped_bytes = 0;  ///< Blocks with a mapping of their own (above the mmap threshold).
};

/// Walks the free lists under the arena locks: up to tens of milliseconds on a fragmented heap, and every
/// allocating thread waits. Only by a verb or at rest. Allocates nothing. Another malloc than glibc's reads
/// as zeros.
[[nodiscard]] HeapStatistics heap_statistics() noexcept;

/// malloc_trim(0): gives free pages of all arenas back to the kernel. Changes state, so only a verb calls it.
/// Returns how much the footprint fell, read before and after (0 where other threads grew it meanwhile).
[[nodiscard]] Result<std::int64_t> trim_heap();

}  // namespace weir::ledger
