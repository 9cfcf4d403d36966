#pragma once

#include <cstdint>

#include "ledger/page_reading.h"

namespace weir::cli {

/// One counter of a page that is an event, with its name in `events` of `weir ps` and `weir run`.
struct EventKey {
  const char* name;
  std::uint64_t ledger::PageReading::*count;
};

inline constexpr EventKey kEvents[] = {
    {"allocations", &ledger::PageReading::allocations},
    {"frees", &ledger::PageReading::frees},
    {"hits", &ledger::PageReading::hits},
    {"misses", &ledger::PageReading::misses},
    {"host_clears", &ledger::PageReading::host_clears},
    {"host_limits", &ledger::PageReading::host_limits},
    {"overdraws", &ledger::PageReading::overdraws},
    {"returned_bytes", &ledger::PageReading::returned},
    {"moved_bytes", &ledger::PageReading::moved},
    {"troubles", &ledger::PageReading::troubles},
    {"forks", &ledger::PageReading::forks},
    {"acts", &ledger::PageReading::acts_done},
};

}  // namespace weir::cli
