#pragma once

#include <string>

#include "ledger/process_parts.h"

namespace weir::ledger {

/// Which pages of this process's mappings are files that lie in memory and so count as RssShmem: on tmpfs,
/// memfd, System V segments. Anonymous shared memory has no owner and stays in no part. Asks the file system
/// once for each file that follows another. Not thread-safe.
class SharedMemory {
 public:
  void add(const Mapping& mapping, ProcessParts& parts);

 private:
  [[nodiscard]] bool lies_in_memory(const std::string& name);

  std::string name_;  // the latest asked for
  bool in_memory_ = false;
};

/// Whether a file's name is a counters page's: "RUN-PID.page", with a path before it and
/// " (deleted)" behind it or not. Pure.
[[nodiscard]] bool is_page_name(std::string_view path);

}  // namespace weir::ledger
