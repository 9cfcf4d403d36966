#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "ledger/page_reading.h"

namespace weir::ledger {

/// How long others may be asked for.
struct NeedOptions {
  pid_t except = 0;                     ///< Who asks.
  std::chrono::milliseconds each{500};  ///< For one answer.
  std::chrono::milliseconds together{2'000};
  std::size_t most = 32;  ///< Processes.
};

/// What became of it.
struct NeedAnswer {
  std::size_t asked = 0;      ///< Processes that answered.
  std::size_t gave = 0;       ///< Of them, those that gave something.
  std::int64_t released = 0;  ///< Bytes together.
};

/// Who may have something to give, those that retain most first: living governed processes but `except` whose
/// allocator is a pool. Pure.
[[nodiscard]] std::vector<PageReading> possible_givers(std::vector<PageReading> pages, pid_t except);

/// Asks this user's governed processes one after the other (Verb::kNeed) until they have given back `bytes`
/// together, or time is up. Who does not answer, or keeps everything (--trim-at), is passed over.
NeedAnswer ask_neighbours(const std::filesystem::path& folder, std::int64_t bytes,
                          const NeedOptions& options = {});

}  // namespace weir::ledger
