#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>

namespace weir::wire {

/// What tells one process from another that later gets its number.
struct ProcessStat {
  std::uint32_t pid = 0;
  char state = '?';               ///< Field 3: 'R', 'S', …; 'Z' and 'X' are dead.
  std::uint64_t start_ticks = 0;  ///< Field 22: clock ticks since boot.

  [[nodiscard]] bool is_dead() const noexcept { return state == 'Z' || state == 'X' || state == 'x'; }
};

/// Parses the text of /proc/PID/stat; its field 2 may hold spaces and brackets. False, and `into` untouched,
/// where it is none. No heap; any bytes.
[[nodiscard]] bool parse_process_stat(const char* text, std::size_t length, ProcessStat& into) noexcept;

/// Reads /proc/PID/stat, or /proc/self/stat for 0. System calls and stack only. False: no such process, or
/// no /proc.
[[nodiscard]] bool read_process_stat(pid_t pid, ProcessStat& into) noexcept;

/// The inode number of this process's pid namespace; 0 where /proc does not tell. System calls and stack
/// only.
[[nodiscard]] std::uint64_t own_pid_namespace() noexcept;

/// Whether a process of this number lives that started then; `start_ticks` 0 is any start.
[[nodiscard]] bool is_alive(pid_t pid, std::uint64_t start_ticks) noexcept;

}  // namespace weir::wire
