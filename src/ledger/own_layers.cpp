#include "ledger/own_layers.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/clock.h"
#include "base/file.h"
#include "base/owned_fd.h"
#include "ledger/mapping_contents.h"
#include "ledger/noted_memory.h"
#include "ledger/own_memory.h"
#include "ledger/shared_memory.h"

namespace weir::ledger {
namespace {

constexpr const char* kSmapsPath = "/proc/self/smaps";
constexpr std::size_t kPieceBytes = 16u << 10;
constexpr double kLongestSeconds = 0.25;

Result<void> read_mappings(SmapsReader& reader) {
  const OwnedFd fd(::open(kSmapsPath, O_RDONLY | O_CLOEXEC));
  if (!fd) return tl::unexpected(system_error(kSmapsPath, "open", errno));
  std::vector<char> piece(kPieceBytes);
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return tl::unexpected(system_error(kSmapsPath, "read", errno));
    if (got == 0) return reader.finish();
    if (Result<void> fed = reader.feed({piece.data(), static_cast<std::size_t>(got)}); !fed) return fed;
  }
}

Result<ProcessParts> read_parts(const AddressEvidence& evidence, const HeapStatistics& heap) {
  OwnMemory memory;
  MappingContents contents(evidence, memory, heap.mapped_bytes);
  PartsFinder finder(evidence, [&](const Mapping& mapping, const Mapping& before, ProcessParts& parts) {
    return contents.give(mapping, before, parts);
  });
  SharedMemory shared;
  ProcessParts in_memory;
  SmapsReader reader([&](const Mapping& mapping) {
    finder.add(mapping);
    shared.add(mapping, in_memory);
  });
  if (Result<void> read = read_mappings(reader); !read) return tl::unexpected(read.error());
  ProcessParts parts = finder.finish();
  parts.counters_page = in_memory.counters_page;
  parts.shared_files = in_memory.shared_files;
  return parts;
}

/// What the heap's blocks in use make the kernel hold.
struct HeapInUse {
  std::int64_t idle = 0;
  std::int64_t physical = 0;
  std::int64_t addresses = 0;
};

HeapInUse heap_in_use(const HeapStatistics& heap, const ProcessParts& parts) {
  HeapInUse use;
  use.addresses = heap.in_use_bytes + heap.mapped_bytes;
  use.idle = std::clamp<std::int64_t>(parts.heap_arenas - heap.in_use_bytes, 0, heap.free_bytes);
  // Arenas that no rule found are as malloc says.
  const std::int64_t not_found = std::max<std::int64_t>(0, heap.arena_bytes - parts.heap_arena_addresses);
  const std::int64_t in_arenas = std::min(heap.in_use_bytes, parts.heap_arenas - use.idle + not_found);
  const std::int64_t blocks_not_found =
      std::max<std::int64_t>(0, heap.mapped_bytes - parts.mapped_blocks.bytes);
  use.physical = in_arenas + parts.mapped_blocks.held + blocks_not_found;
  return use;
}

void add_heap(const AllocatorCounters& counters, const HeapInUse& use, Layers& layers) {
  auto& identified = layers.identified_parts;
  if (counters.buffers_from_heap) {
    const std::int64_t buffers = counters.live.value_or(0) + counters.retained.value_or(0);
    layers.untouched = std::clamp<std::int64_t>(use.addresses - use.physical, 0, buffers);
    identified.push_back({"heap in use besides the allocator's buffers",
                          std::max<std::int64_t>(0, use.physical + *layers.untouched - buffers)});
    return;
  }
  const std::int64_t beside = std::clamp<std::int64_t>(counters.beside_pool.value_or(0), 0, use.physical);
  identified.push_back({"heap in use besides the allocator's buffers", use.physical - beside});
  if (beside > 0) identified.push_back({"held by MLX's own allocator beside the pool", beside});
}

void add_parts(const ProcessParts& parts, std::vector<IdentifiedPart>& identified) {
  const auto add = [&](const char* name, std::int64_t bytes) {
    if (bytes != 0) identified.push_back({name, bytes});
  };
  add("Python objects", parts.python_objects);
  add("BLAS work buffers", parts.blas_buffers);
  add("main stack", parts.main_stack);
  add("thread stacks", parts.thread_stacks);
  add("main thread's own data", parts.main_thread_data);
  add("private pages of mapped files", parts.library_data);
  add("zeroed data of the program and its libraries", parts.library_zeroed);
  add("weir's books about its pool", parts.books);
  add("weir's counters page", parts.counters_page);
  add("shared files that lie in memory", parts.shared_files);
  for (const auto& [name, bytes] : parts.named)
    identified.push_back({name, bytes});
}

Result<Layers> read_once(const std::function<AllocatorCounters()>& counters) {
  SystemClock clock;
  const Nanoseconds began = clock.now();
  AddressEvidence evidence = own_address_evidence();
  AllocatorCounters held = counters();
  evidence.pool = held.pool;
  evidence.books = std::move(held.books);
  const HeapStatistics heap = heap_statistics();
  const Result<ProcStatus> status = read_own_status();
  if (!status) return tl::unexpected(status.error());
  const Result<ProcessParts> parts = read_parts(evidence, heap);
  if (!parts) return tl::unexpected(parts.error());
  Layers layers = compute_layers(held, *status, heap, *parts, noted_parts());
  layers.age_seconds = seconds(clock.now() - began);
  return layers;
}

/// How far footprint, live and retained have moved since the reading.
Result<std::int64_t> change_since(const Layers& layers, const AllocatorCounters& now) {
  const Result<ProcStatus> status = read_own_status();
  if (!status) return tl::unexpected(status.error());
  return std::abs(status->footprint() - *layers.footprint) +
         std::abs(now.live.value_or(0) - layers.live.value_or(0)) +
         std::abs(now.retained.value_or(0) - layers.retained.value_or(0));
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
  if (layers.tags.empty() && counters.live) layers.tags = {{"other", *counters.live}};
  layers.overdraw = counters.overdraw;
  const HeapInUse use = heap_in_use(heap, parts);
  layers.heap_idle = use.idle;
  add_heap(counters, use, layers);
  if (parts.pool) {
    const std::int64_t backed =
        counters.live.value_or(0) + counters.retained.value_or(0) + counters.padding.value_or(0);
    layers.untouched = std::max<std::int64_t>(0, backed - *parts.pool);
  }
  if (counters.padding) layers.identified_parts.push_back({"pool padding", *counters.padding});
  add_parts(parts, layers.identified_parts);
  std::move(noted.begin(), noted.end(), std::back_inserter(layers.identified_parts));
  close_sums(layers);
  return layers;
}

Result<Layers> read_own_layers(const AllocatorCounters& counters) {
  return read_once([&] { return counters; });
}

Result<Layers> read_steady_own_layers(const std::function<AllocatorCounters()>& counters) {
  SystemClock clock;
  const Nanoseconds began = clock.now();
  Result<Layers> steadiest = fail(ErrorKind::kEnvironment, kSmapsPath, "not read");
  std::int64_t smallest_change = 0;
  for (int reading = 0; reading < kMostReadings; ++reading) {
    if (reading > 0 && seconds(clock.now() - began) > kLongestSeconds) break;
    Result<Layers> layers = read_once(counters);
    if (!layers) return layers;
    const Result<std::int64_t> change = change_since(*layers, counters());
    if (!change) return tl::unexpected(change.error());
    if (reading == 0 || *change < smallest_change) {
      steadiest = std::move(layers);
      smallest_change = *change;
    }
    // A reading itself may touch some pages.
    if (smallest_change <= *steadiest->footprint / 1'000) break;
  }
  return steadiest;
}

}  // namespace weir::ledger
