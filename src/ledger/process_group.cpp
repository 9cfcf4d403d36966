#include "ledger/process_group.h"

#include <algorithm>

#include "ledger/governed_peak.h"

namespace weir::ledger {

ProcessGroup sum_processes(const std::vector<Layers>& processes) {
  ProcessGroup group;
  group.processes = processes.size();
  for (const Layers& one : processes) {
    group.sum = add_layers(group.sum, one);
    group.footprint_low = std::max(group.footprint_low, one.footprint.value_or(0));
    group.resident_low = std::max(group.resident_low, one.resident.value_or(0));
  }
  group.footprint_high = group.sum.footprint.value_or(0);
  group.resident_high = group.sum.resident.value_or(0);
  return group;
}

}  // namespace weir::ledger
