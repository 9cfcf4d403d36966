#pragma once

#include <cstdint>
#include <span>

#include "ledger/block_heads.h"

namespace weir::ledger {

inline constexpr std::uint64_t kMemoryPageBytes = 4096;

/// Where one page is.
enum class PageState : std::uint8_t { kNone, kPresent, kSwapped };

/// The memory of this process as its kernel tells, read so that an address which vanishes meanwhile is an
/// answer and no fault.
class IOwnMemory {
 public:
  virtual ~IOwnMemory() = default;
  /// The states of `into.size()` pages from `start` on. False: not known.
  [[nodiscard]] virtual bool page_states(std::uint64_t start, std::span<PageState> into) = 0;
  /// The heads of these pages, which must be present: reading another one could bring it into being. Zeros
  /// for one that cannot be read.
  virtual void heads(std::span<const std::uint64_t> pages, std::span<PageHead> into) = 0;
};

}  // namespace weir::ledger
