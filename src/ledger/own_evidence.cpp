#include <dirent.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "ledger/block_heads.h"
#include "ledger/own_memory.h"
#include "ledger/process_parts.h"

namespace weir::ledger {
namespace {

constexpr std::uint64_t kMostLibraryData = 4u << 20;
constexpr std::size_t kPieceBytes = 32u << 10;
/// Pieces overlap by an entry of OpenBLAS' table on both sides.
constexpr std::size_t kOverlapBytes = 128;

struct LoadedObjects {
  std::uint64_t page_bytes = 0;
  std::vector<AddressRange> segments;
  std::vector<AddressRange> blas_data;  // writable data of libraries that may be OpenBLAS
};

bool may_be_openblas(const char* path) {
  const std::string_view name(path == nullptr ? "" : path);
  return name.substr(name.rfind('/') + 1).find("blas") != std::string_view::npos;
}

int add_segments(dl_phdr_info* info, std::size_t, void* out) {
  auto& objects = *static_cast<LoadedObjects*>(out);
  const std::uint64_t page = objects.page_bytes;
  const bool is_blas = may_be_openblas(info->dlpi_name);
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const std::uint64_t start = info->dlpi_addr + header.p_vaddr;
    const std::uint64_t end = start + header.p_memsz;
    objects.segments.push_back({start / page * page, (end + page - 1) / page * page});
    if (is_blas && (header.p_flags & PF_W) != 0) objects.blas_data.push_back({start, end});
  }
  return 0;
}

std::vector<std::uint64_t> blas_addresses(const AddressRange& data) {
  std::vector<std::uint64_t> found;
  std::vector<std::byte> piece(kPieceBytes);
  const std::uint64_t start = (data.start + 7) / 8 * 8;
  const std::uint64_t end = std::min(data.end, start + kMostLibraryData);
  for (std::uint64_t at = start; at < end; at += kPieceBytes - kOverlapBytes) {
    const std::size_t size = std::min<std::uint64_t>(kPieceBytes, end - at);
    if (!copy_own_memory(at, piece.data(), size)) continue;
    const auto more = find_blas_buffers(std::span(piece).first(size));
    found.insert(found.end(), more.begin(), more.end());
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// Buffers of one library have one size, a power of two, and mostly lie side by side.
void add_blas_buffers(const AddressRange& data, std::vector<AddressRange>& into) {
  const std::vector<std::uint64_t> starts = blas_addresses(data);
  constexpr std::uint64_t kSmallest = 1u << 20, kLargest = 128u << 20;
  std::uint64_t bytes = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const std::uint64_t apart = std::bit_floor(starts[i] - starts[i - 1]);
    if (apart >= kSmallest) bytes = std::min(bytes == 0 ? kLargest : bytes, apart);
  }
  for (const std::uint64_t start : starts)
    into.push_back({start, bytes == 0 ? 0 : start + bytes});
}

std::uint64_t default_stack_bytes() {
  pthread_attr_t attributes;
  if (::pthread_getattr_default_np(&attributes) != 0) return 0;
  std::size_t size = 0;
  ::pthread_attr_getstacksize(&attributes, &size);
  ::pthread_attr_destroy(&attributes);
  return size;
}

/// glibc keeps the head of a thread's robust mutexes in its control block; 0 where there is none.
std::uint64_t thread_block(pid_t thread) {
  robust_list_head* head = nullptr;
  std::size_t size = 0;
  if (::syscall(SYS_get_robust_list, thread, &head, &size) != 0) return 0;
  return reinterpret_cast<std::uint64_t>(head);
}

std::uint64_t stack_pointer(std::string_view thread) {
  const Result<std::string> text = read_text("/proc/self/task/" + std::string(thread) + "/syscall", 4096);
  return text ? parse_stack_pointer(*text).value_or(0) : 0;
}

void add_threads(AddressEvidence& evidence) {
  const std::unique_ptr<DIR, int (*)(DIR*)> tasks(::opendir("/proc/self/task"), ::closedir);
  if (!tasks) return;
  while (const dirent* entry = ::readdir(tasks.get())) {
    const std::string_view name(entry->d_name);
    pid_t thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec != std::errc{}) continue;
    if (const std::uint64_t block = thread_block(thread); block != 0)
      evidence.thread_blocks.push_back(block);
    else if (const std::uint64_t pointer = stack_pointer(name); pointer != 0)
      evidence.stack_pointers.push_back(pointer);
  }
  std::sort(evidence.thread_blocks.begin(), evidence.thread_blocks.end());
}

}  // namespace

AddressEvidence own_address_evidence() {
  AddressEvidence evidence;
  LoadedObjects objects;
  objects.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  ::dl_iterate_phdr(add_segments, &objects);
  evidence.objects = std::move(objects.segments);
  for (const AddressRange& data : objects.blas_data)
    add_blas_buffers(data, evidence.blas_buffers);
  std::sort(evidence.blas_buffers.begin(), evidence.blas_buffers.end(),
            [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
  add_threads(evidence);
  evidence.largest_stack_bytes = default_stack_bytes();
  return evidence;
}

}  // namespace weir::ledger
