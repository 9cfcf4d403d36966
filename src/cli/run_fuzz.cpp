#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "cli/elf_head.h"
#include "cli/mlx_sightings.h"

/// The head of a program, and the text of /proc/PID/maps: both are whatever somebody put there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const weir::cli::ElfHead head = weir::cli::parse_elf_head(bytes);
  WEIR_CHECK(head.is_elf || head.interpreter.empty());
  WEIR_CHECK(head.interpreter.size() <= size);
  (void)weir::cli::mapped_libraries(bytes);
  return 0;
}
