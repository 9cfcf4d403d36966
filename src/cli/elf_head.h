#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

namespace weir::cli {

/// What the head of an ELF file says about who loads it.
struct ElfHead {
  bool is_elf = false;
  int bits = 0;  ///< 32 or 64.
  bool little_endian = true;
  unsigned machine = 0;     ///< e_machine.
  std::string interpreter;  ///< The dynamic linker (PT_INTERP); "": linked statically.
};

/// The first bytes of a file, fewer where it is shorter; "" where it cannot be read.
[[nodiscard]] std::string file_head(const std::filesystem::path& file, std::size_t count);

/// `bytes` is the head of the file; what lies behind it is not seen. Any bytes. Pure.
[[nodiscard]] ElfHead parse_elf_head(std::string_view bytes);

/// Of the first 64 KiB of the file. Anything that cannot be read is no ELF file.
[[nodiscard]] ElfHead read_elf_head(const std::filesystem::path& file);

}  // namespace weir::cli
