#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"

namespace weir::cli {

/// A governed process as its page and /proc tell.
struct GovernedGlance {
  std::int64_t pid = 0;
  std::string command;
  std::uint64_t troubles = 0;     ///< Times that weir could not do what it should.
  bool over_pool = false;         ///< Its allocator is on weir's pool.
  bool off = false;               ///< weir stays out of it.
  std::int64_t locked_bytes = 0;  ///< Wired (VmLck).
  int pages = 1;                  ///< Pages of this living process: runs that count it.
};

/// What weir keeps on disk and in memory files, and in what state it is.
struct Places {
  Result<void> store = {};  ///< Whether it can be opened; an absent one can.
  Result<std::filesystem::path> runtime_folder = std::filesystem::path();
  std::optional<std::int64_t> runtime_free_bytes;  ///< Of the file system with the pages.
  std::vector<std::string> stale_pages;            ///< Files whose process and run have ended, by name.
  std::vector<GovernedGlance> governed;            ///< Living ones, by pid.
};

/// The state folder, the runtime folder (made where it is absent, as every `weir run` does), the pages.
[[nodiscard]] Places places_here();

}  // namespace weir::cli
