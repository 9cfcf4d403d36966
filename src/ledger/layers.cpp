#include "ledger/layers.h"

namespace weir::ledger {

std::int64_t explained_bytes(const Layers& layers) {
  return layers.live.value_or(0) + layers.retained.value_or(0) - layers.untouched.value_or(0) +
         layers.heap_idle.value_or(0) + layers.identified.value_or(0);
}

void close_sums(Layers& layers) {
  std::int64_t identified = 0;
  for (const IdentifiedPart& part : layers.identified_parts)
    identified += part.bytes;
  layers.identified = identified;
  layers.unexplained = *layers.footprint - explained_bytes(layers);
}

}  // namespace weir::ledger
