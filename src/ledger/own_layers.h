#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"
#include "ledger/heap.h"
#include "ledger/layers.h"
#include "ledger/proc_status.h"
#include "ledger/process_parts.h"

namespace weir::ledger {

/// What the caller's allocator says it holds.
struct AllocatorCounters {
  Bytes live;
  Bytes retained;
  std::map<std::string, std::int64_t> tags;  ///< Sums to `live`.
  /// The allocator takes its buffers from malloc (MLX on a CPU does), so live + retained are part of the heap
  /// in use.
  bool buffers_from_heap = true;
  Bytes padding = std::nullopt;   ///< Of a pool: backed beside live and retained.
  Bytes overdraw = std::nullopt;  ///< Granted above a hard cap; unknown where there is none.
  AddressRange pool = {};         ///< All of the pool's memory; empty: not known.
};

/// The ledger of this process, now. Only at rest: mallinfo2 and smaps stall every thread of the process for
/// milliseconds (heap.h), and threads that allocate meanwhile blur the sum. `untouched` is known where the
/// pool's range is; `weights_file` stays unknown in this form.
///
/// Order of reading: the heap's statistics, /proc/self/status, /proc/self/smaps; nothing is allocated between
/// them (the text goes into a buffer that was made before). Thread stacks and noted memory follow. The caller
/// reads `counters` just before. Fails where /proc cannot be read.
[[nodiscard]] Result<Layers> read_own_layers(const AllocatorCounters& counters);

/// The sum itself, from readings. Pure.
///   heap_idle   physical bytes of the heap's arenas − blocks in use there, between 0 and the heap's own
///   count of free
///               bytes. Trimmed pages stay in that count but are not physical; blocks that are in use and not
///               yet touched make it smaller, never larger.
///   untouched   live + retained + padding − physical bytes of the pool's range, at least 0
///   heap in use besides the buffers = blocks in arenas + blocks with own mappings − live − retained, at
///   least 0. The
///               headers and rounding of the buffers stay in it.
[[nodiscard]] Layers compute_layers(const AllocatorCounters& counters, const ProcStatus& status,
                                    const HeapStatistics& heap, const ProcessParts& parts,
                                    std::vector<IdentifiedPart> noted);

}  // namespace weir::ledger
