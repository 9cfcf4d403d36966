#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ledger/layers.h"

namespace weir::ledger {

/// Several processes that belong together (a `weir run`, a cgroup) as one.
///
/// What the sum means. Each process counts every page that it has mapped, so a page that two of them share
/// stands in the sum twice: libraries and mapped weights in `file`, pages still shared since a fork in
/// `footprint`, memory that is shared on purpose in both. Only smaps tells whose a page is, and reading it
/// stalls the process. So the sum is an upper end. What the pool counts (live, retained) is each process's
/// own and adds up exactly, but for a forked child, whose pool begins as a copy of its parent's.
struct ProcessGroup {
  std::size_t processes = 0;
  Layers sum;                       ///< Layer by layer; both sums of layers.h hold.
  std::int64_t footprint_low = 0;   ///< The largest single footprint: the group holds at least that.
  std::int64_t footprint_high = 0;  ///< The sum: it holds at most that.
  std::int64_t resident_low = 0, resident_high = 0;  ///< The same of resident bytes.
};

/// Pure; unknown counts 0.
[[nodiscard]] ProcessGroup sum_processes(const std::vector<Layers>& processes);

/// One sentence that says so, for screens.
inline constexpr const char* kGroupMeaning =
    "a sum over processes is an upper end: pages that they share count once for each";

}  // namespace weir::ledger
