#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

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
  std::map<std::string, std::int64_t> tags;  ///< Sums to `live`; none: all of it is "other".
  /// The allocator takes its buffers from malloc (MLX on a CPU does), so live + retained are part of the heap
  /// in use.
  bool buffers_from_heap = true;
  Bytes padding = std::nullopt;          ///< Of a pool: backed beside live and retained.
  Bytes overdraw = std::nullopt;         ///< Granted above a hard cap; unknown where there is none.
  AddressRange pool = {};                ///< All of the pool's memory; empty: not known.
  std::vector<AddressRange> books = {};  ///< What weir keeps about its pool, outside of `pool`.
  /// Of a pool: what MLX's own allocator holds beside it, by its own count (active and cached): buffers from
  /// before the pool, or made past it. They lie in the heap.
  Bytes beside_pool = std::nullopt;
};

/// The ledger of this process, now, from any thread. Only at rest or when asked to: mallinfo2 and smaps stall
/// every thread of the process for milliseconds (heap.h), and threads that allocate meanwhile blur the sum.
/// `untouched` is known where the pool's range is, or where buffers lie in the heap; `weights_file` stays
/// unknown in this form.
///
/// Order of reading: the heap's statistics, /proc/self/status, then smaps in pieces, mapping by mapping:
/// unnamed ones are looked into (mapping_contents.h). Noted memory follows. Holds no lock over a read of
/// /proc. Needs about 200 KiB of heap, whatever the number of mappings, and a few bytes a thread. The caller
/// reads `counters` just before. Fails where /proc cannot be read.
[[nodiscard]] Result<Layers> read_own_layers(const AllocatorCounters& counters);

/// The same, again where footprint or counters moved while they were read, at most kMostReadings times and no
/// longer than about a quarter of a second (a reading that has begun is finished): the steadiest reading
/// counts. `counters` is called before and after each.
[[nodiscard]] Result<Layers> read_steady_own_layers(const std::function<AllocatorCounters()>& counters);
inline constexpr int kMostReadings = 4;

/// The sum itself, from readings. Pure.
///   heap_idle   physical bytes of the heap's arenas − blocks in use there, between 0 and the heap's own
///               count of free bytes. Trimmed pages stay in that count but are not physical; blocks that are
///               in use and not yet touched make it smaller, never larger.
///   heap in use the rest of the arenas' physical bytes, at most the blocks in use; blocks with a mapping of
///               their own by their pages, and as malloc counts them where they were not found
///   untouched   of a pool: live + retained + padding − physical bytes of its range, at least 0. Of buffers
///               in the heap: blocks in use − heap in use, at most live + retained
///   heap in use besides the buffers = heap in use + untouched − live − retained, at least 0. The headers and
///               rounding of the buffers stay in it.
[[nodiscard]] Layers compute_layers(const AllocatorCounters& counters, const ProcStatus& status,
                                    const HeapStatistics& heap, const ProcessParts& parts,
                                    std::vector<IdentifiedPart> noted);

}  // namespace weir::ledger
