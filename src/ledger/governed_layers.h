#pragma once

#include <sys/types.h>
#include <vector>

#include "base/error.h"
#include "ledger/governed_page.h"
#include "ledger/layers.h"
#include "ledger/proc_status.h"
#include "ledger/process_parts.h"

namespace weir::ledger {

/// The ledger of another process that weir governs, now. Both sums of layers.h hold exactly; what the page
/// says is as old as `page`, and the difference falls into `unexplained`.
///
/// Without maps it costs two small reads of /proc and stalls nobody: identified is the pool's padding.
/// With maps it reads smaps and the threads' stack pointers, which stalls the process for a moment (tens of
/// milliseconds for a large one): at rest, or when asked to.
/// kEnvironment: the process has ended (also during the read), or the kernel does not let us look.
[[nodiscard]] Result<Layers> read_governed_layers(pid_t pid, const PageReading& page, bool with_maps);

/// The sum without maps. Pure. live and retained are unknown where weir has switched itself off there;
/// overdraw where there is no hard cap (allocator `mlx`); heap_idle always, because only a process itself can
/// ask its heap. All of live is tag `other`.
[[nodiscard]] Layers compute_governed_layers(const PageReading& page, const ProcStatus& status);

/// The sum with maps. Pure. Adds:
///   untouched   backed − physical bytes of the pool's range, at least 0; unknown without a pool's range
///   identified  the parts of process_parts.h, and under a pool the C heap, used and idle: there it holds no
///               buffers. Under `mlx` it does, and nobody outside can tell them apart: unexplained.
[[nodiscard]] Layers compute_governed_layers(const PageReading& page, const ProcStatus& status,
                                             const ProcessParts& parts);

}  // namespace weir::ledger
