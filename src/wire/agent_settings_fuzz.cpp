// Any bytes as settings and as a page's name: what is accepted prints as exactly the bytes that were read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "wire/agent_settings.h"
#include "wire/page_file.h"
#include "wire/process_stat.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check_settings(const std::string& text) {
  weir::wire::AgentSettings settings;
  const weir::wire::AgentSettings untouched = settings;
  if (!weir::wire::parse_settings(text.c_str(), settings)) return require(settings == untouched);
  char again[weir::wire::kSettingsTextBytes];
  const std::size_t length = weir::wire::print_settings(settings, again);
  require(std::string(again, length) == text.c_str());
}

void check_name(const std::string& text) {
  std::uint64_t run = 0;
  std::uint32_t pid = 0;
  if (!weir::wire::parse_page_name(text.c_str(), run, pid)) return require(run == 0 && pid == 0);
  char again[weir::wire::kPageNameBytes];
  require(std::string(again, weir::wire::print_page_name(run, pid, again)) == text.c_str());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_settings(text);
  check_name(text);
  weir::wire::ProcessStat stat;
  (void)weir::wire::parse_process_stat(text.data(), text.size(), stat);
  return 0;
}
