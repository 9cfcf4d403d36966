#include "ledger/governed_layers.h"

#include <algorithm>

#include "base/clock.h"
#include "base/file.h"
#include "ledger/smaps.h"
#include "wire/process_stat.h"

namespace weir::ledger {
namespace {

constexpr std::size_t kLargestSmapsBytes = 256u << 20;

bool has_pool(const PageReading& page) {
  return page.state != wire::PageState::kOff && page.allocator != wire::Allocator::kMlx;
}

Result<Layers> read_with_maps(pid_t pid, const PageReading& page, const ProcStatus& status) {
  const std::string path = "/proc/" + std::to_string(pid) + "/smaps";
  const Result<std::string> text = read_text(path, kLargestSmapsBytes);
  if (!text) return tl::unexpected(text.error());
  const Result<std::vector<Mapping>> mappings = parse_smaps(*text);
  if (!mappings) return tl::unexpected(mappings.error());
  if (mappings->empty()) return fail(ErrorKind::kBadData, path, "empty");
  // A process that ends while its mappings are read leaves some out, and has no sizes any more.
  if (const Result<ProcStatus> after = read_process_status(pid); !after) return tl::unexpected(after.error());
  AddressEvidence evidence = process_address_evidence(pid, *mappings);
  if (has_pool(page)) evidence.pool = {page.pool_start, page.pool_end};
  return compute_governed_layers(page, status, find_process_parts(*mappings, evidence));
}

Result<Layers> read_layers(pid_t pid, const PageReading& page, bool with_maps) {
  const Result<ProcStatus> status = read_process_status(pid);
  if (!status) return tl::unexpected(status.error());
  if (!with_maps) return compute_governed_layers(page, *status);
  return read_with_maps(pid, page, *status);
}

}  // namespace

Layers compute_governed_layers(const PageReading& page, const ProcStatus& status) {
  Layers layers;
  layers.footprint = status.footprint();
  layers.file = status.file;
  layers.resident = status.resident();
  layers.swap = status.swap;
  if (page.state != wire::PageState::kOff) {
    layers.live = page.live;
    layers.retained = page.retained;
    layers.tags = {{"other", page.live}};
  }
  if (has_pool(page)) {
    layers.overdraw = page.overdraw;
    layers.identified_parts = {{"pool padding", page.padding}};
  }
  close_sums(layers);
  return layers;
}

Layers compute_governed_layers(const PageReading& page, const ProcStatus& status, const ProcessParts& parts) {
  Layers layers = compute_governed_layers(page, status);
  auto& identified = layers.identified_parts;
  if (has_pool(page)) {
    if (parts.pool) layers.untouched = std::max<std::int64_t>(0, page.backed - *parts.pool);
    identified.push_back({"C heap, used and idle", parts.heap_arenas});
  }
  identified.push_back({"main stack", parts.main_stack});
  identified.push_back({"thread stacks", parts.thread_stacks});
  identified.push_back({"private pages of mapped files", parts.library_data});
  identified.push_back({"zeroed data of the program and its libraries", parts.library_zeroed});
  for (const auto& [name, bytes] : parts.named)
    identified.push_back({name, bytes});
  close_sums(layers);
  return layers;
}

Result<Layers> read_governed_layers(pid_t pid, const PageReading& page, bool with_maps) {
  SystemClock clock;
  const Nanoseconds began = clock.now();
  Result<Layers> layers = read_layers(pid, page, with_maps);
  // Between losing its memory and becoming a zombie a process has neither sizes nor mappings.
  const bool has_no_memory = !layers && layers.error().kind == ErrorKind::kBadData && read_own_status();
  if (has_no_memory || !wire::is_alive(pid, page.start_ticks))
    return fail(ErrorKind::kEnvironment, "process " + std::to_string(pid), "has ended");
  if (layers && with_maps) layers->age_seconds = seconds(clock.now() - began);
  return layers;
}

}  // namespace weir::ledger
