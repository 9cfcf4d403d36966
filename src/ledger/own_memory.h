#pragma once

#include <array>

#include "base/owned_fd.h"
#include "ledger/i_own_memory.h"

namespace weir::ledger {

/// IOwnMemory by /proc/self/pagemap and process_vm_readv. Opens its descriptor at once; holds about 20 KiB.
class OwnMemory final : public IOwnMemory {
 public:
  OwnMemory();

  [[nodiscard]] bool page_states(std::uint64_t start, std::span<PageState> into) override;
  void heads(std::span<const std::uint64_t> pages, std::span<PageHead> into) override;

 private:
  OwnedFd pagemap_;
  bool refused_ = false;  // by a filter of system calls
  std::array<std::uint64_t, 2048> entries_{};
};

/// Copies memory of this process; false where any of it cannot be read.
[[nodiscard]] bool copy_own_memory(std::uint64_t from, void* into, std::size_t bytes) noexcept;

}  // namespace weir::ledger
