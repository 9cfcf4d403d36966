#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::ledger {

/// A number of bytes; nullopt is unknown (JSON null) and counts 0 in the sum.
using Bytes = std::optional<std::int64_t>;

/// One counted part of `Layers::identified`.
struct IdentifiedPart {
  std::string name;
  std::int64_t bytes = 0;
};

/// Where every byte of one process is. Two sums hold exactly:
///   footprint = live + retained − untouched + heap_idle + identified + unexplained
///   footprint + file = resident + swap
/// All values are bytes. A plain value: copies are independent.
struct Layers {
  Bytes footprint;    ///< RssAnon + RssShmem + VmSwap: what the process alone makes the kernel hold.
  Bytes live;         ///< Buffers now held by arrays, as the allocator charges them.
  Bytes retained;     ///< Freed buffers that the allocator keeps for reuse.
  Bytes untouched;    ///< Charged to a buffer and not yet physical.
  Bytes heap_idle;    ///< Physical and free inside the C library's heap.
  Bytes identified;   ///< Counted, never a remainder: the sum of `identified_parts`.
  Bytes unexplained;  ///< What is left. Negative where charged bytes are not physical; shown as it is.

  Bytes file;              ///< RssFile: resident pages of mapped files (libraries, mapped weights).
  Bytes resident;          ///< VmRSS.
  Bytes swap;              ///< VmSwap.
  Bytes overdraw;          ///< Granted above a hard cap.
  Bytes weights_file;      ///< Mapped weights; part of `file`.
  double age_seconds = 0;  ///< How old the sampled readings (heap, smaps) were when this was returned.

  std::map<std::string, std::int64_t> tags;  ///< weights, kv, workspace, other, …; sums to `live`.
  std::vector<IdentifiedPart> identified_parts;
};

/// live + retained − untouched + heap_idle + identified; unknown counts 0.
[[nodiscard]] std::int64_t explained_bytes(const Layers& layers);

/// Sets `identified` to the sum of its parts and `unexplained` to what is left of the footprint, which is
/// known.
void close_sums(Layers& layers);

}  // namespace weir::ledger
