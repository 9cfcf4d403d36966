// Any bytes as a config file: values or an error with the file and its line; never an abort.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "limits/config_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto config =
      weir::limits::parse_config({reinterpret_cast<const char*>(data), size}, "/etc/weir/config.toml");
  if (!config && config.error().where.rfind("/etc/weir/config.toml:", 0) != 0) std::abort();
  return 0;
}
