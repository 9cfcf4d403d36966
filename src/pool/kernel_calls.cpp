#include "pool/kernel_calls.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <atomic>
#include <cerrno>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

namespace weir::pool::kernel {
namespace {

constexpr int kMapFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

std::atomic<unsigned> g_failing_kinds{0};
std::atomic<std::int64_t> g_first_failing{0};
std::atomic<std::int64_t> g_first_passing{0};
std::atomic<std::int64_t> g_seen{0};

bool fails(Call call) noexcept {
  if ((g_failing_kinds.load(std::memory_order_relaxed) & only(call)) == 0) return false;
  const std::int64_t number = g_seen.fetch_add(1, std::memory_order_relaxed);
  return number >= g_first_failing.load(std::memory_order_relaxed) &&
         number < g_first_passing.load(std::memory_order_relaxed);
}

}  // namespace

void* map(std::size_t bytes, int protection) noexcept {
  if (fails(Call::kMap)) return nullptr;
  void* const at = ::mmap(nullptr, bytes, protection, kMapFlags, -1, 0);
  return at == MAP_FAILED ? nullptr : at;
}

bool map_over(void* at, std::size_t bytes, int protection) noexcept {
  if (fails(Call::kMap)) return false;
  return ::mmap(at, bytes, protection, kMapFlags | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool unmap(void* at, std::size_t bytes) noexcept {
  return !fails(Call::kUnmap) && ::munmap(at, bytes) == 0;
}

bool make_usable(void* at, std::size_t bytes) noexcept {
  return !fails(Call::kProtect) && ::mprotect(at, bytes, PROT_READ | PROT_WRITE) == 0;
}

bool discard(void* at, std::size_t bytes) noexcept {
  return !fails(Call::kDiscard) && ::madvise(at, bytes, MADV_DONTNEED) == 0;
}

Moved move_pages(void* from, void* to, std::size_t bytes) noexcept {
  if (fails(Call::kMove)) return Moved::kFailed;
  constexpr int kFlags = MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP;
  if (::mremap(from, bytes, bytes, kFlags, to) != MAP_FAILED) return Moved::kDone;
  return errno == EINVAL || errno == ENOSYS || errno == EPERM ? Moved::kUnsupported : Moved::kFailed;
}

void ask_huge_pages(void* at, std::size_t bytes) noexcept {
  static_cast<void>(::madvise(at, bytes, MADV_HUGEPAGE));
}

void name_for_maps(void* at, std::size_t bytes, const char* name) noexcept {
  static_cast<void>(::prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, bytes, name));
}

void fail_calls(unsigned kinds, std::int64_t pass, std::int64_t fail) noexcept {
  g_failing_kinds.store(0);
  g_seen.store(0);
  g_first_failing.store(pass);
  g_first_passing.store(pass + fail);
  g_failing_kinds.store(kinds);
}

std::int64_t calls_seen() noexcept {
  return g_seen.load();
}

}  // namespace weir::pool::kernel
