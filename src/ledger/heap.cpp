#include "ledger/heap.h"

#include <malloc.h>
#include <algorithm>

#include "ledger/proc_status.h"

namespace weir::ledger {

HeapStatistics heap_statistics() noexcept {
  const struct mallinfo2 info = ::mallinfo2();
  return {.arena_bytes = static_cast<std::int64_t>(info.arena),
          .in_use_bytes = static_cast<std::int64_t>(info.uordblks),
          .free_bytes = static_cast<std::int64_t>(info.fordblks),
          .mapped_bytes = static_cast<std::int64_t>(info.hblkhd)};
}

Result<std::int64_t> trim_heap() {
  const Result<ProcStatus> before = read_own_status();
  if (!before) return tl::unexpected(before.error());
  ::malloc_trim(0);
  const Result<ProcStatus> after = read_own_status();
  if (!after) return tl::unexpected(after.error());
  return std::max<std::int64_t>(0, before->footprint() - after->footprint());
}

}  // namespace weir::ledger
