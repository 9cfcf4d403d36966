#pragma once

#include <sys/types.h>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/smaps.h"

namespace weir::ledger {

struct AddressRange {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// What is known about a process's addresses, beside smaps.
struct AddressEvidence {
  std::vector<AddressRange> objects;          ///< Load segments of the executable and its libraries.
  std::vector<std::uint64_t> stack_pointers;  ///< Of live threads.
  std::uint64_t largest_stack_bytes = 0;      ///< A larger mapping is not taken for a thread's stack.
  AddressRange pool;                          ///< What weir's pool reserved; empty: no single range.
};

/// Private physical bytes (Anonymous + Swap) of the mappings whose owner is certain.
struct ProcessParts {
  std::optional<std::int64_t> pool;  ///< weir's pool; nullopt: none, or a mapping that holds pages reaches
                                     ///< past its range.
  std::int64_t heap_arenas =
      0;  ///< [heap] and glibc's thread arenas; not identified: heap statistics split them.
  std::int64_t main_stack = 0;                ///< [stack]
  std::int64_t thread_stacks = 0;             ///< With the thread-local storage at their top.
  std::int64_t library_data = 0;              ///< Private pages of mapped files: relocations, written data.
  std::int64_t library_zeroed = 0;            ///< Unnamed mappings inside a loaded object: its .bss.
  std::map<std::string, std::int64_t> named;  ///< "[anon:NAME]": named by whoever made it.
};

/// Gives each mapping to at most one part; what fits no rule is in none. Pure. The rules, first match wins:
///   pool         at least partly inside `pool`; where that is empty, named "[anon:weir pool]"
///   by name      [stack], [heap], [anon:…]; private mappings of a file
///   .bss         unnamed and wholly inside a load segment of `objects`
///   arena        unnamed, rw-p, starts on a 64 MiB boundary, and ends on one or is followed by a ---p
///   mapping that does stack        unnamed, rw-p, holds one of `stack_pointers`, at most
///   `largest_stack_bytes` long
[[nodiscard]] ProcessParts find_process_parts(const std::vector<Mapping>& mappings,
                                              const AddressEvidence& evidence);

/// The stack pointer in /proc/PID/task/TID/syscall; nullopt: the thread is running, or the text is malformed.
/// Pure.
[[nodiscard]] std::optional<std::uint64_t> parse_stack_pointer(std::string_view text);

/// Evidence about another process with these mappings: load segments as the headers of its mapped files tell
/// (elf_segments.h), the stack pointers of its blocked threads and its stack limit, as far as the kernel
/// lets us look. Allocates.
[[nodiscard]] AddressEvidence process_address_evidence(pid_t pid, const std::vector<Mapping>& mappings);

/// Evidence about this process: load segments (dl_iterate_phdr), the stack pointers of blocked threads and of
/// the caller, glibc's default stack size. A thread that runs at this moment has no known stack pointer.
/// Allocates.
[[nodiscard]] AddressEvidence own_address_evidence();

}  // namespace weir::ledger
