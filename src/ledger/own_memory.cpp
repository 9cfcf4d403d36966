#include "ledger/own_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>

namespace weir::ledger {
namespace {

// Documentation/admin-guide/mm/pagemap.rst
constexpr std::uint64_t kIsPresent = std::uint64_t{1} << 63;
constexpr std::uint64_t kIsSwapped = std::uint64_t{1} << 62;
constexpr std::size_t kHeadsAtOnce = 64;

PageState state_of(std::uint64_t entry) noexcept {
  if ((entry & kIsPresent) != 0) return PageState::kPresent;
  return (entry & kIsSwapped) != 0 ? PageState::kSwapped : PageState::kNone;
}

iovec remote_head(std::uint64_t page) noexcept {
  return {reinterpret_cast<void*>(page), kHeadBytes};
}

/// Pages of another size are not looked into.
OwnedFd open_pagemap() {
  if (::sysconf(_SC_PAGESIZE) != static_cast<long>(kMemoryPageBytes)) return {};
  return OwnedFd(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
}

}  // namespace

OwnMemory::OwnMemory() : pagemap_(open_pagemap()) {}

bool OwnMemory::page_states(std::uint64_t start, std::span<PageState> into) {
  if (!pagemap_) return false;
  for (std::size_t done = 0; done < into.size();) {
    const std::size_t want = std::min(into.size() - done, entries_.size());
    const std::uint64_t at = (start / kMemoryPageBytes + done) * sizeof(std::uint64_t);
    const ssize_t got =
        ::pread(pagemap_.get(), entries_.data(), want * sizeof(std::uint64_t), static_cast<off_t>(at));
    if (got < static_cast<ssize_t>(sizeof(std::uint64_t))) return false;
    const std::size_t pages = static_cast<std::size_t>(got) / sizeof(std::uint64_t);
    std::transform(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(pages),
                   into.begin() + static_cast<std::ptrdiff_t>(done), state_of);
    done += pages;
  }
  return true;
}

void OwnMemory::heads(std::span<const std::uint64_t> pages, std::span<PageHead> into) {
  std::fill(into.begin(), into.end(), PageHead{});
  iovec there[kHeadsAtOnce];
  for (std::size_t done = 0; done < pages.size() && !refused_;) {
    const std::size_t count = std::min(pages.size() - done, kHeadsAtOnce);
    std::transform(pages.begin() + static_cast<std::ptrdiff_t>(done),
                   pages.begin() + static_cast<std::ptrdiff_t>(done + count), there, remote_head);
    const iovec here{into[done].data(), count * kHeadBytes};
    const ssize_t got = ::process_vm_readv(::getpid(), &here, 1, there, count, 0);
    refused_ = got < 0 && errno != EFAULT;
    const std::size_t whole = got > 0 ? static_cast<std::size_t>(got) / kHeadBytes : 0;
    // The kernel stops at the first page that it cannot read, which is left out.
    done += whole < count ? whole + 1 : count;
  }
}

bool copy_own_memory(std::uint64_t from, void* into, std::size_t bytes) noexcept {
  const iovec here{into, bytes};
  const iovec there{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace weir::ledger
