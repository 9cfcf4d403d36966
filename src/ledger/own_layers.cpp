#include "ledger/own_layers.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "base/file.h"
#include "base/owned_fd.h"
#include "ledger/noted_memory.h"
#include "ledger/smaps.h"

namespace weir::ledger {
namespace {

constexpr const char* kSmapsPath = "/proc/self/smaps";
constexpr std::size_t kFirstBufferBytes = 256u << 10;
constexpr std::size_t kLargestBufferBytes = 256u << 20;

struct Readings {
  HeapStatistics heap;
  ProcStatus status;
  std::vector<Mapping> mappings;
};

/// Reads until the end or until the buffer is full; allocates nothing.
Result<std::size_t> read_into(std::string& buffer) {
  const OwnedFd fd(::open(kSmapsPath, O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(system_error(kSmapsPath, "open", errno));
  std::size_t size = 0;
  while (size < buffer.size()) {
    const ssize_t got = ::read(fd.get(), buffer.data() + size, buffer.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(kSmapsPath, "read", errno));
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  return size;
}

/// The three readings that must belong together. A buffer that proves too small is doubled and all are taken
/// again.
Result<Readings> read_together() {
  for (std::size_t capacity = kFirstBufferBytes; capacity <= kLargestBufferBytes; capacity *= 2) {
    std::string buffer(capacity, '\0');
    const HeapStatistics heap = heap_statistics();
    const Result<ProcStatus> status = read_own_status();
    if (!status) return tl::unexpected(status.error());
    const Result<std::size_t> size = read_into(buffer);
    if (!size) return tl::unexpected(size.error());
    if (*size == buffer.size()) continue;
    Result<std::vector<Mapping>> mappings = parse_smaps(std::string_view(buffer).substr(0, *size));
    if (!mappings) return tl::unexpected(mappings.error());
    return Readings{heap, *status, std::move(*mappings)};
  }
  return fail(ErrorKind::kEnvironment, kSmapsPath,
              "larger than " + std::to_string(kLargestBufferBytes) + " bytes");
}

std::int64_t heap_beside_buffers(const AllocatorCounters& counters, const HeapStatistics& heap) {
  const std::int64_t in_use = heap.in_use_bytes + heap.mapped_bytes;
  if (!counters.buffers_from_heap) return in_use;
  return std::max<std::int64_t>(0, in_use - counters.live.value_or(0) - counters.retained.value_or(0));
}

}  // namespace

Layers compute_layers(const AllocatorCounters& counters, const ProcStatus& status, const HeapStatistics& heap,
                      const ProcessParts& parts, std::vector<IdentifiedPart> noted) {
  Layers layers;
  layers.footprint = status.footprint();
  layers.file = status.file;
  layers.resident = status.resident();
  layers.swap = status.swap;
  layers.live = counters.live;
  layers.retained = counters.retained;
  layers.tags = counters.tags;
  layers.overdraw = counters.overdraw;
  if (parts.pool) {
    const std::int64_t backed =
        counters.live.value_or(0) + counters.retained.value_or(0) + counters.padding.value_or(0);
    layers.untouched = std::max<std::int64_t>(0, backed - *parts.pool);
  }
  layers.heap_idle =
      std::max<std::int64_t>(0, std::min(parts.heap_arenas - heap.in_use_bytes, heap.free_bytes));
  layers.identified_parts = {
      {"heap in use besides the allocator's buffers", heap_beside_buffers(counters, heap)},
      {"main stack", parts.main_stack},
      {"thread stacks", parts.thread_stacks},
      {"private pages of mapped files", parts.library_data},
      {"zeroed data of the program and its libraries", parts.library_zeroed}};
  if (counters.padding) layers.identified_parts.push_back({"pool padding", *counters.padding});
  for (const auto& [name, bytes] : parts.named)
    layers.identified_parts.push_back({name, bytes});
  std::move(noted.begin(), noted.end(), std::back_inserter(layers.identified_parts));
  std::int64_t identified = 0;
  for (const IdentifiedPart& part : layers.identified_parts)
    identified += part.bytes;
  layers.identified = identified;
  layers.unexplained = status.footprint() - explained_bytes(layers);
  return layers;
}

Result<Layers> read_own_layers(const AllocatorCounters& counters) {
  SystemClock clock;
  const Nanoseconds began = clock.now();
  const Result<Readings> readings = read_together();
  if (!readings) return tl::unexpected(readings.error());
  AddressEvidence evidence = own_address_evidence();
  evidence.pool = counters.pool;
  const ProcessParts parts = find_process_parts(readings->mappings, evidence);
  Layers layers = compute_layers(counters, readings->status, readings->heap, parts, noted_parts());
  layers.age_seconds = seconds(clock.now() - began);
  return layers;
}

}  // namespace weir::ledger
