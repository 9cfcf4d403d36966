// Every parser of kernel text on the same bytes: none may crash, and what they accept must be consistent.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string_view>

#include "ledger/block_heads.h"
#include "ledger/cgroup.h"
#include "ledger/machine_settings.h"
#include "ledger/proc_status.h"
#include "ledger/process_parts.h"
#include "ledger/process_table.h"
#include "ledger/smaps.h"

namespace {

/// What a process finds in its own memory are any bytes too.
void look_into_memory(const std::uint8_t* data, std::size_t size) {
  namespace ledger = weir::ledger;
  for (const std::uint64_t address : ledger::find_blas_buffers(std::as_bytes(std::span(data, size))))
    if (address == 0 || address % 4096 != 0) std::abort();
  ledger::PageHead head{};
  if (size > 0) std::memcpy(head.data(), data, std::min(size, head.size()));
  const std::uint64_t pool = ledger::python_pool_bytes(head, 0x7f00'0000'0000);
  if (pool != 0 && pool != 4096 && pool != 16384) std::abort();
  if (ledger::mapped_block_bytes(head, 1u << 20) > 1u << 20) std::abort();
}

/// Text in two pieces reads like the whole.
void read_in_pieces(std::string_view text) {
  namespace ledger = weir::ledger;
  std::size_t mappings = 0;
  ledger::SmapsReader reader([&](const ledger::Mapping&) { ++mappings; });
  const std::string_view first = text.substr(0, text.size() / 2);
  const bool is_read = reader.feed(first) && reader.feed(text.substr(first.size())) && reader.finish();
  const auto whole = ledger::parse_smaps(text);
  if (is_read != whole.has_value() || (is_read && mappings != whole->size())) std::abort();
}

}  // namespace

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
  (void)ledger::name_cgroup(text).label();
  const auto events = ledger::parse_cgroup_events(text);
  if (events.high.value_or(0) < 0 || events.oom_kill.value_or(0) < 0) std::abort();
  if (ledger::parse_process_limits(text).data.value_or(0) < 0) std::abort();
  if (ledger::chosen_word(text).size() > size) std::abort();
  (void)ledger::parse_stack_pointer(text);
  (void)ledger::parse_faults(text);
  look_into_memory(data, size);
  read_in_pieces(text);
  (void)ledger::parse_command_line(text);
  return 0;
}
