#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/cell.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto cell = weir::lab::parse_cell({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
  if (cell && (cell->footprint.empty() || cell->name.empty())) std::abort();
  return 0;
}
