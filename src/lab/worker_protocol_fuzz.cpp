#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lab/worker_protocol.h"

/// What parses is written and read back to the same line.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weir::lab;
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  if (const auto request = parse_request(line)) {
    const auto again = parse_request(to_line(*request));
    if (!again || to_line(*again) != to_line(*request)) std::abort();
  }
  if (const auto event = parse_event(line)) {
    const auto again = parse_event(to_line(*event));
    if (!again || to_line(*again) != to_line(*event)) std::abort();
  }
  return 0;
}
