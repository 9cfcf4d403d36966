// Any bytes as a page, with a good head and without: what is accepted is within bounds and adds up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "ledger/elf_segments.h"
#include "ledger/governed_layers.h"
#include "ledger/governed_page.h"
#include "ledger/outside_text.h"

namespace ledger = weir::ledger;
namespace wire = weir::wire;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_sums(const ledger::Layers& layers) {
  require(*layers.footprint == ledger::explained_bytes(layers) + *layers.unexplained);
  require(*layers.footprint + *layers.file == *layers.resident + *layers.swap);
}

void check_page(const std::string& bytes) {
  const auto page = ledger::parse_page(bytes, "page");
  if (!page) return require(page.error().kind == weir::ErrorKind::kBadData);
  require(page->pid > 0 && page->live >= 0 && page->overdraw_peak >= 0 && page->pool_start <= page->pool_end);
  for (const std::string* text : {&page->library, &page->command})
    require(ledger::fit_for_output(*text) == *text && text->size() <= 256);
  require(page->acts.size() <= wire::kActs && page->devices.size() <= wire::kDevices);
  for (const ledger::ActReading& act : page->acts)
    require(act.released >= 0 && act.footprint_before >= 0 && act.retained_after >= 0);
  for (const ledger::DeviceReading& device : page->devices)
    require(device.total >= 0 && ledger::fit_for_output(device.name) == device.name);
  for (const ledger::SizeClassReading& each : page->size_classes)
    require(each.retained >= 0);
  const ledger::ProcStatus status{.anonymous = 5, .file = 7, .shared = 1, .swap = 2, .high_water = 13};
  check_sums(ledger::compute_governed_layers(*page, status));
  ledger::ProcessParts parts;
  parts.pool = 3;
  check_sums(ledger::compute_governed_layers(*page, status, parts));
}

void check_segments(const std::string& bytes) {
  const auto segments = ledger::parse_load_segments(bytes);
  ledger::Mapping mapping;
  mapping.start = 0x7f0000000000;
  mapping.end = 0x7f0000001000;
  for (const auto& range : ledger::place_segments(segments, {mapping}, 4096))
    require(range.start < range.end && range.start % 4096 == 0 && range.end % 4096 == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  check_page(bytes);
  check_segments(bytes);
  bytes.resize(wire::kPageBytes);
  std::memcpy(bytes.data(), &wire::kPageMagic, sizeof wire::kPageMagic);
  std::memcpy(bytes.data() + sizeof wire::kPageMagic, &wire::kPageVersion, sizeof wire::kPageVersion);
  check_page(bytes);
  return 0;
}
