#include "cli/elf_head.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/owned_fd.h"

namespace weir::cli {
namespace {

constexpr std::size_t kHeadBytes = 64 << 10;

/// nullopt where the bytes end before.
template <class Record>
std::optional<Record> record_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + offset, sizeof record);
  return record;
}

/// The text of PT_INTERP; "" where there is none. `Header` and `Segment` are of one word size.
template <class Header, class Segment>
void read_segments(std::string_view bytes, ElfHead& head) {
  const auto header = record_at<Header>(bytes, 0);
  if (!header) return;
  head.machine = header->e_machine;
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    const auto segment = record_at<Segment>(bytes, header->e_phoff + std::uint64_t{i} * header->e_phentsize);
    if (!segment) return;
    if (segment->p_type != PT_INTERP || segment->p_offset >= bytes.size()) continue;
    const std::string_view text = bytes.substr(segment->p_offset, segment->p_filesz);
    head.interpreter = text.substr(0, text.find('\0'));
    return;
  }
}

}  // namespace

std::string file_head(const std::filesystem::path& file, std::size_t count) {
  // Without waiting for a pipe's writer.
  const OwnedFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(count, '\0');
  std::size_t have = 0;
  while (fd && have < count) {
    const ssize_t got = ::read(fd.get(), head.data() + have, count - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  head.resize(have);
  return head;
}

ElfHead parse_elf_head(std::string_view bytes) {
  ElfHead head;
  if (bytes.size() < EI_NIDENT || bytes.substr(0, SELFMAG) != ELFMAG) return head;
  head.is_elf = true;
  head.bits = bytes[EI_CLASS] == ELFCLASS64 ? 64 : 32;
  head.little_endian = bytes[EI_DATA] == ELFDATA2LSB;
  if (head.bits == 64) {
    read_segments<Elf64_Ehdr, Elf64_Phdr>(bytes, head);
  } else {
    read_segments<Elf32_Ehdr, Elf32_Phdr>(bytes, head);
  }
  return head;
}

ElfHead read_elf_head(const std::filesystem::path& file) {
  return parse_elf_head(file_head(file, kHeadBytes));
}

}  // namespace weir::cli
