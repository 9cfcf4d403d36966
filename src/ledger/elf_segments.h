#pragma once

#include <sys/types.h>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ledger/process_parts.h"

namespace weir::ledger {

/// One load segment as a file's program headers tell it.
struct LoadSegment {
  std::uint64_t offset = 0;  ///< In the file.
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;  ///< In memory, zeroed data included.

  bool operator==(const LoadSegment&) const = default;
};

/// The load segments in the first bytes of an ELF file of this machine's word size; empty where it is none,
/// or where its headers reach past `head` or contradict each other. Pure; any bytes.
[[nodiscard]] std::vector<LoadSegment> parse_load_segments(std::string_view head);

/// Where the segments lie, given the mappings of their file: once for each mapping that begins the first
/// segment and has every other segment mapped where it belongs. Whole pages. Pure.
[[nodiscard]] std::vector<AddressRange> place_segments(const std::vector<LoadSegment>& segments,
                                                       const std::vector<Mapping>& of_file,
                                                       std::uint64_t page_bytes);

/// The same for every file that the process has mapped. Files that are gone, replaced or closed to us are
/// left out. Reads at most 4 KiB of each.
[[nodiscard]] std::vector<AddressRange> mapped_load_segments(pid_t pid, const std::vector<Mapping>& mappings);

}  // namespace weir::ledger
