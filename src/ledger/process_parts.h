#pragma once

#include <sys/types.h>
#include <cstdint>
#include <functional>
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

  [[nodiscard]] bool contains(std::uint64_t address) const noexcept {
    return start <= address && address < end;
  }
};

/// What is known about a process's addresses, beside smaps.
struct AddressEvidence {
  std::vector<AddressRange> objects;          ///< Load segments of the executable and its libraries.
  std::vector<std::uint64_t> stack_pointers;  ///< Of live threads.
  std::uint64_t largest_stack_bytes = 0;      ///< A larger mapping is not taken for a thread's stack.
  AddressRange pool;                          ///< What weir's pool reserved; empty: no single range.

  // Only a process itself can tell these (own_address_evidence).
  std::vector<std::uint64_t>
      thread_blocks;                       ///< In each thread's control block, which ends its stack; sorted.
  std::vector<AddressRange> blas_buffers;  ///< Of OpenBLAS; sorted. An end of 0: its size is not known.
  std::vector<AddressRange> books;         ///< What weir keeps about its pool, outside of `pool`; sorted.
};

/// Blocks with a mapping of their own, as malloc's headers tell.
struct MappedBlocks {
  std::int64_t bytes = 0;  ///< Of addresses.
  std::int64_t held = 0;   ///< Physical.
};

/// Private physical bytes (Anonymous + Swap) of the mappings whose owner is certain.
struct ProcessParts {
  std::optional<std::int64_t> pool;  ///< weir's pool; nullopt: none, or a mapping that holds pages reaches
                                     ///< past its range.
  std::int64_t heap_arenas =
      0;  ///< [heap] and glibc's thread arenas; not identified: heap statistics split them.
  std::int64_t heap_arena_addresses = 0;      ///< Bytes of addresses of the same.
  std::int64_t main_stack = 0;                ///< [stack]
  std::int64_t thread_stacks = 0;             ///< With the thread-local storage at their top.
  std::int64_t library_data = 0;              ///< Private pages of mapped files: relocations, written data.
  std::int64_t library_zeroed = 0;            ///< Unnamed mappings inside a loaded object: its .bss.
  std::map<std::string, std::int64_t> named;  ///< "[anon:NAME]": named by whoever made it.

  // Found by what memory holds (mapping_contents.h); 0 for another process.
  MappedBlocks mapped_blocks;
  std::int64_t python_objects = 0;    ///< Pools of Python's object allocator.
  std::int64_t blas_buffers = 0;      ///< Work buffers of OpenBLAS.
  std::int64_t books = 0;             ///< weir's books about its pool.
  std::int64_t main_thread_data = 0;  ///< Thread-local storage of the main thread.
  // Part of RssShmem (shared_memory.h).
  std::int64_t counters_page = 0;  ///< weir's own page, where its folder lies in memory.
  std::int64_t shared_files = 0;   ///< Other files that lie in memory: tmpfs, memfd, System V.
};

/// Gives each mapping to at most one part; what fits no rule is in none. The rules, first match wins:
///   pool     at least partly inside `pool`; where that is empty, named "[anon:weir pool]"
///   by name  [stack], [heap], [anon:…]; private mappings of a file
///   .bss     unnamed and wholly inside a load segment of `objects`
///   arena    unnamed, rw-p, starts on a 64 MiB boundary, and ends on one or is followed by a ---p mapping
///            that does
///   stack    unnamed, rw-p, holds one of `stack_pointers`, at most `largest_stack_bytes` long
/// Mappings come in the order of their addresses. Not thread-safe.
class PartsFinder {
 public:
  /// Called with each unnamed writable mapping that fits no rule so far (before "stack"), and with the one
  /// before it: true where it gave the mapping to parts as far as it could.
  using Rest = std::function<bool(const Mapping& mapping, const Mapping& before, ProcessParts&)>;

  /// `evidence` must outlive this; its ranges may come in any order.
  explicit PartsFinder(const AddressEvidence& evidence, Rest rest = {});

  void add(const Mapping& mapping);
  /// All mappings were added.
  [[nodiscard]] ProcessParts finish();

 private:
  void settle(const Mapping* next);

  const AddressEvidence& evidence_;
  std::vector<AddressRange> objects_;  // sorted
  Rest rest_;
  ProcessParts parts_;
  Mapping before_, current_;
  bool has_current_ = false;
};

/// The same for a list. Pure.
[[nodiscard]] ProcessParts find_process_parts(const std::vector<Mapping>& mappings,
                                              const AddressEvidence& evidence);

/// The stack pointer in /proc/PID/task/TID/syscall; nullopt: the thread is running, or the text is malformed.
/// Pure.
[[nodiscard]] std::optional<std::uint64_t> parse_stack_pointer(std::string_view text);

/// Evidence about another process with these mappings: load segments as the headers of its mapped files tell
/// (elf_segments.h), the stack pointers of its blocked threads and its stack limit, as far as the kernel
/// lets us look. Allocates.
[[nodiscard]] AddressEvidence process_address_evidence(pid_t pid, const std::vector<Mapping>& mappings);

/// Evidence about this process: load segments (dl_iterate_phdr), the control block of every thread, running
/// or not (get_robust_list), stack pointers of those that have none, glibc's default stack size, OpenBLAS'
/// work buffers. Allocates a few bytes a thread and a library. Waits while another thread loads a library.
[[nodiscard]] AddressEvidence own_address_evidence();

}  // namespace weir::ledger
