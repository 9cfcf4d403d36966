#pragma once

#include <sys/types.h>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace weir::ledger {

/// The value in bytes of the first line "KEY: <number> kB" of `text` (/proc/…/status, /proc/meminfo).
/// nullopt: no such line, not a number, or more than 2^63 − 1 bytes.
[[nodiscard]] std::optional<std::int64_t> kilobyte_line(std::string_view text, std::string_view key);

/// The memory lines of /proc/PID/status, in bytes. One read of the file is one set of counters; `resident` is
/// their sum, which is how the kernel computes VmRSS.
struct ProcStatus {
  std::int64_t anonymous = 0;  ///< RssAnon
  std::int64_t file = 0;       ///< RssFile
  std::int64_t shared = 0;     ///< RssShmem
  std::int64_t swap = 0;       ///< VmSwap
  std::int64_t high_water =
      0;  ///< VmHWM: largest resident size since the process began or since the last reset.

  [[nodiscard]] std::int64_t resident() const noexcept { return anonymous + file + shared; }
  [[nodiscard]] std::int64_t footprint() const noexcept { return anonymous + shared + swap; }
};

/// A missing or malformed line is kBadData and names the line. Pure.
[[nodiscard]] Result<ProcStatus> parse_status(std::string_view text);

/// Reads `root`/proc/self/status (4 KiB on the stack, no heap unless it fails). Thread-safe.
[[nodiscard]] Result<ProcStatus> read_own_status(const std::filesystem::path& root = "/");

/// Reads /proc/PID/status. A process that is gone is kEnvironment, one without memory (a zombie) kBadData.
[[nodiscard]] Result<ProcStatus> read_process_status(pid_t pid);

}  // namespace weir::ledger
