#include "ledger/layers.h"

namespace weir::ledger {

std::int64_t explained_bytes(const Layers& layers) {
  return layers.live.value_or(0) + layers.retained.value_or(0) - layers.untouched.value_or(0) +
         layers.heap_idle.value_or(0) + layers.identified.value_or(0);
}

}  // namespace weir::ledger
