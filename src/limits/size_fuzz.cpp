// Any bytes as a size: a value within bounds or an error that says everything, and printing keeps the value.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "limits/size.h"

using namespace weir;
using namespace weir::limits;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_error(const Error& error) {
  require(error.kind == ErrorKind::kUsage && error.where == "WEIR_CACHE_LIMIT");
  require(error.message.find("write a") != std::string::npos && error.message.size() < 600);
  for (const char c : error.message)
    require(c >= 0x20 && c < 0x7f);
}

void check_size(const Size& size, Knob knob) {
  const bool bytes_mode = size.mode == Mode::kBytes;
  require(bytes_mode == (size.bytes.has_value() != size.percentage.has_value()));
  if (!size.bytes) return;
  require(*size.bytes >= (knob == Knob::kMemoryLimit ? 1 : 0));
  const auto again = parse_size(std::to_string(*size.bytes), knob, "again");
  require(again && *again == size);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Knob knob : {Knob::kCacheLimit, Knob::kMemoryLimit}) {
    const auto parsed = parse_size(text, knob, "WEIR_CACHE_LIMIT");
    if (!parsed) {
      check_error(parsed.error());
      continue;
    }
    check_size(*parsed, knob);
    if (!parsed->percentage) continue;
    const auto of = bytes_of(*parsed->percentage, std::int64_t{1} << 44);
    require(!of || *of >= 0);
    if (parsed->percentage->of != "model") require(of && *of <= std::int64_t{1} << 44);
  }
  return 0;
}
