#include "ledger/elf_segments.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "base/owned_fd.h"

namespace weir::ledger {
namespace {

using FileHeader = ElfW(Ehdr);
using SegmentHeader = ElfW(Phdr);

constexpr std::size_t kHeadBytes = 4096;
/// Keeps sums of an address and a size from overflowing.
constexpr std::uint64_t kLargest = std::uint64_t{1} << 56;

bool is_elf(const FileHeader& header) {
  constexpr unsigned char kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == kClass &&
         header.e_phentsize == sizeof(SegmentHeader);
}

/// Empty where the file cannot be read or is another one than was mapped.
std::string read_head(const std::string& path, std::uint64_t inode) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_ino != inode) return {};
  std::string head(kHeadBytes, '\0');
  const ssize_t got = ::pread(fd.get(), head.data(), head.size(), 0);
  head.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return head;
}

bool is_mapped(const std::vector<Mapping>& mappings, std::uint64_t start, std::uint64_t offset) {
  return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
    return mapping.start == start && mapping.offset == offset;
  });
}

}  // namespace

std::vector<LoadSegment> parse_load_segments(std::string_view head) {
  FileHeader file;
  if (head.size() < sizeof file) return {};
  std::memcpy(&file, head.data(), sizeof file);
  if (!is_elf(file) || file.e_phoff > head.size()) return {};
  if (file.e_phnum > (head.size() - file.e_phoff) / sizeof(SegmentHeader)) return {};
  std::vector<LoadSegment> segments;
  for (std::size_t i = 0; i < file.e_phnum; ++i) {
    SegmentHeader one;
    std::memcpy(&one, head.data() + file.e_phoff + i * sizeof one, sizeof one);
    if (one.p_type != PT_LOAD || one.p_memsz == 0) continue;
    if (one.p_vaddr > kLargest || one.p_memsz > kLargest || one.p_offset > kLargest) return {};
    if (!segments.empty() && one.p_vaddr < segments.back().address + segments.back().size_bytes) return {};
    segments.push_back({one.p_offset, one.p_vaddr, one.p_memsz});
  }
  return segments;
}

std::vector<AddressRange> place_segments(const std::vector<LoadSegment>& segments,
                                         const std::vector<Mapping>& of_file, std::uint64_t page_bytes) {
  if (segments.empty()) return {};
  const auto down = [&](std::uint64_t value) { return value / page_bytes * page_bytes; };
  std::vector<AddressRange> placed;
  for (const Mapping& first : of_file) {
    const std::uint64_t lowest = down(segments.front().address);
    if (first.offset != down(segments.front().offset) || first.start < lowest || first.start > kLargest)
      continue;
    const std::uint64_t base = first.start - lowest;
    const bool fits = std::all_of(segments.begin(), segments.end(), [&](const LoadSegment& segment) {
      return is_mapped(of_file, base + down(segment.address), down(segment.offset));
    });
    if (!fits) continue;
    for (const LoadSegment& segment : segments)
      placed.push_back(
          {base + down(segment.address), down(base + segment.address + segment.size_bytes + page_bytes - 1)});
  }
  return placed;
}

std::vector<AddressRange> mapped_load_segments(pid_t pid, const std::vector<Mapping>& mappings) {
  std::map<std::pair<std::string, std::uint64_t>, std::vector<Mapping>> files;
  for (const Mapping& mapping : mappings)
    if (mapping.inode != 0 && mapping.name.starts_with('/'))
      files[{mapping.name, mapping.inode}].push_back(mapping);
  const std::string root = "/proc/" + std::to_string(pid) + "/root";
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  std::vector<AddressRange> ranges;
  for (const auto& [file, of_file] : files) {
    const auto segments = parse_load_segments(read_head(root + file.first, file.second));
    const auto placed = place_segments(segments, of_file, page);
    ranges.insert(ranges.end(), placed.begin(), placed.end());
  }
  return ranges;
}

}  // namespace weir::ledger
