#include <sys/resource.h>
#include <charconv>
#include <filesystem>

#include "base/file.h"
#include "ledger/elf_segments.h"
#include "ledger/process_parts.h"

namespace weir::ledger {
namespace {

/// What glibc gives a thread by default: the stack limit, or 2 MiB where there is none.
std::uint64_t stack_bytes_of(pid_t pid) {
  constexpr std::uint64_t kWithoutLimit = 2u << 20;
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_STACK, nullptr, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? kWithoutLimit : limit.rlim_cur;
}

std::vector<std::uint64_t> stack_pointers(const std::filesystem::path& process) {
  std::vector<std::uint64_t> pointers;
  std::error_code
      ignored;  // threads come and go, and the file may be forbidden: what is not read is not counted
  for (std::filesystem::directory_iterator task(process / "task", ignored), end; !ignored && task != end;
       task.increment(ignored)) {
    const Result<std::string> text = read_text(task->path() / "syscall", 4096);
    if (!text) continue;
    if (const auto pointer = parse_stack_pointer(*text)) pointers.push_back(*pointer);
  }
  return pointers;
}

}  // namespace

std::optional<std::uint64_t> parse_stack_pointer(std::string_view text) {
  // "<call> <six arguments> <stack pointer> <program counter>", or "-1 <stack pointer> <program counter>"
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  const std::size_t counter = text.rfind(' ');
  if (counter == std::string_view::npos) return std::nullopt;
  text = text.substr(0, counter);
  const std::size_t before = text.rfind(' ');
  if (before == std::string_view::npos) return std::nullopt;
  text.remove_prefix(before + 1);
  if (!text.starts_with("0x")) return std::nullopt;
  std::uint64_t pointer = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), pointer, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return pointer;
}

AddressEvidence process_address_evidence(pid_t pid, const std::vector<Mapping>& mappings) {
  AddressEvidence evidence;
  evidence.objects = mapped_load_segments(pid, mappings);
  evidence.stack_pointers = stack_pointers("/proc/" + std::to_string(pid));
  evidence.largest_stack_bytes = stack_bytes_of(pid);
  return evidence;
}

}  // namespace weir::ledger
