#pragma once

#include <sys/types.h>
#include <cstddef>
#include <cstdint>

#include "wire/counters_page.h"
#include "wire/process_file_name.h"

namespace weir::wire {

/// Room for "RUN-PID.page" with its zero.
inline constexpr std::size_t kPageNameBytes = kProcessFileNameBytes;

/// Writes "RUN-PID.page" (both decimal) with its terminating zero; returns its length without it.
std::size_t print_page_name(std::uint64_t run, std::uint32_t pid, char (&name)[kPageNameBytes]) noexcept;
/// False for anything but the exact form above; then nothing is written. Any bytes.
[[nodiscard]] bool parse_page_name(const char* name, std::uint64_t& run, std::uint32_t& pid) noexcept;

/// What the caller knows about the process; the rest (pid, start, program) make_page finds out.
struct PageFacts {
  std::uint64_t run = 0;
  Allocator allocator = Allocator::kMlx;
  const char* library = "";  ///< Path of libmlx; cut to what the page holds.
  bool forked = false;       ///< A child made by fork without exec.
  Backend backend = Backend::kCpu;
};

/// The page of this process, ready and never null: state kStarting, limits kNoLimit, counters 0, magic set.
/// Its file is made in `folder`, which must be a directory (not a link to one) of the effective user with
/// mode 0700; a file of this name that a dead process left is replaced, but not the page of another pid
/// namespace. Where that fails (also `folder` ""
/// or null, a full disk, no descriptors, `ulimit -f 0`) the page is memory that nobody else sees, and
/// `trouble`, where given, gets the reason: static text, or null for a page with a file.
///
/// System calls and stack only: usable in a fork's child before it execs. Keeps errno. Not thread-safe for
/// one process.
[[nodiscard]] CountersPage* make_page(const char* folder, const PageFacts& facts,
                                      const char** trouble) noexcept;

/// The last thing that a process does with its page: state kExited, and its file in `folder` is removed
/// ("" or null leaves it, for `weir run` to read the last values and remove). The memory stays, so that
/// threads which still count do not fault. A page of the parent is left alone. Null is ignored. Keeps errno.
void unmake_page(CountersPage* page, const char* folder) noexcept;

/// Gives the mapping up and nothing else: a fork's child leaves its parent's page this way. Nobody in this
/// process may touch the page afterwards. Null is ignored. Keeps errno.
void leave_page(CountersPage* page) noexcept;

}  // namespace weir::wire
