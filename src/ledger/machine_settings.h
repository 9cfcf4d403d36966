#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "ledger/layers.h"

namespace weir::ledger {

/// Soft resource limits of a process that bound memory, in bytes; nullopt: unlimited, or not told.
struct ProcessLimits {
  Bytes address_space;  ///< RLIMIT_AS
  Bytes data;           ///< RLIMIT_DATA: what is private and writable.
  Bytes locked;         ///< RLIMIT_MEMLOCK
};

/// The text of /proc/PID/limits; other lines are skipped. Pure.
[[nodiscard]] ProcessLimits parse_process_limits(std::string_view text);

/// The word in brackets: "madvise" of "always [madvise] never"; "" where there is none. Pure.
[[nodiscard]] std::string chosen_word(std::string_view text);

/// Transparent huge pages. Words are "" where the kernel does not tell.
struct HugePages {
  std::string enabled;                            ///< always, madvise, never.
  std::string defrag;                             ///< always, defer, defer+madvise, madvise, never.
  std::optional<std::int64_t> khugepaged_defrag;  ///< 0: khugepaged does not compact for them.
  std::optional<std::int64_t> largest_hole;  ///< max_ptes_none: how many untouched pages of 512 khugepaged
                                             ///< fills to make one huge page.
  bool disabled_here = false;                ///< prctl(PR_SET_THP_DISABLE) of this process or a parent.
};

/// Swap of the machine, in bytes.
struct Swap {
  std::int64_t total = 0;
  std::int64_t used = 0;
  std::int64_t compressed = 0;             ///< Part of `total` on zram: in memory again.
  std::optional<std::int64_t> swappiness;  ///< 0 to 200.
};

/// What the kernel and this process's limits say about memory. What cannot be read is nullopt or "".
struct MachineSettings {
  ProcessLimits limits;
  HugePages huge_pages;
  Swap swap;
  std::optional<std::int64_t> max_map_count;
  std::optional<std::int64_t> overcommit;  ///< vm.overcommit_memory: 0 guesses, 1 always, 2 strict.
  Bytes commit_limit, committed;           ///< What strict overcommit allows, and what is promised already.
  bool pressure_told = true;               ///< /proc/pressure/memory can be read (PSI).
};

/// Reads below `root` (tests pass a made-up tree). Thread-safe.
[[nodiscard]] MachineSettings machine_settings(const std::filesystem::path& root = "/");

}  // namespace weir::ledger
