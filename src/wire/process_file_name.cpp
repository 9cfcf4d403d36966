#include "wire/process_file_name.h"

#include <cstring>

#include "wire/decimal.h"

namespace weir::wire {

std::size_t print_process_file_name(std::uint64_t run, std::uint32_t pid,
                                    const char (&suffix)[kProcessFileSuffixBytes + 1],
                                    char (&name)[kProcessFileNameBytes]) noexcept {
  std::size_t length = print_decimal(run, name);
  name[length++] = '-';
  length += print_decimal(pid, name + length);
  std::memcpy(name + length, suffix, sizeof suffix);
  return length + kProcessFileSuffixBytes;
}

bool parse_process_file_name(const char* name, const char (&suffix)[kProcessFileSuffixBytes + 1],
                             std::uint64_t& run, std::uint32_t& pid) noexcept {
  const char* end = name + ::strnlen(name, kProcessFileNameBytes);
  std::uint64_t of_run = 0, of_process = 0;
  const char* at = take_decimal(name, end, of_run);
  if (at == nullptr || at == end || *at != '-') return false;
  at = take_decimal(at + 1, end, of_process);
  if (at == nullptr || of_process > 0x7fffffff) return false;
  if (static_cast<std::size_t>(end - at) != kProcessFileSuffixBytes ||
      std::memcmp(at, suffix, kProcessFileSuffixBytes) != 0)
    return false;
  run = of_run;
  pid = static_cast<std::uint32_t>(of_process);
  return true;
}

}  // namespace weir::wire
