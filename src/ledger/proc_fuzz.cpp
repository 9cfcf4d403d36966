// Every parser of kernel text on the same bytes: none may crash, and what they accept must be consistent.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "ledger/cgroup.h"
#include "ledger/proc_status.h"
#include "ledger/process_parts.h"
#include "ledger/smaps.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace ledger = weir::ledger;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto status = ledger::parse_status(text); status)
    if (status->footprint() + status->file != status->resident() + status->swap) std::abort();
  if (const auto mappings = ledger::parse_smaps(text); mappings) {
    ledger::AddressEvidence evidence;
    evidence.objects = {{0x1000, 0x7f0000000000}};
    evidence.stack_pointers = {0x7ffd00000000};
    evidence.largest_stack_bytes = 8u << 20;
    const auto parts = ledger::find_process_parts(*mappings, evidence);
    if (parts.heap_arenas < 0 || parts.library_data < 0) std::abort();
    for (const auto& mapping : *mappings)
      if (mapping.end <= mapping.start) std::abort();
  }
  if (const auto bytes = ledger::kilobyte_line(text, "MemTotal"); bytes && *bytes < 0) std::abort();
  for (const auto& mount : ledger::parse_cgroup_mounts(text))
    if (mount.point.empty()) std::abort();
  (void)ledger::parse_cgroup(text);
  (void)ledger::parse_stack_pointer(text);
  return 0;
}
