#include "govern/process_page.h"

#include <unistd.h>
#include <cerrno>
#include <cstdio>

#include "wire/page_file.h"

namespace weir::govern {

void print_line(const char* text) noexcept {
  const int kept = errno;
  char line[512];
  int length = std::snprintf(line, sizeof line, "weir: %s\n", text);
  if (length >= static_cast<int>(sizeof line)) {
    length = sizeof line - 1;
    line[length - 1] = '\n';
  }
  // One write, so that lines of several processes do not mix; where it fails nobody is listening.
  if (length > 0 && ::write(STDERR_FILENO, line, static_cast<std::size_t>(length)) < 0) errno = kept;
  errno = kept;
}

ProcessPage::ProcessPage(const wire::AgentSettings& settings, const char* library, const char* folder)
    : library_(library), folder_(folder), run_(settings.run) {
  const char* trouble = nullptr;
  slot_ = wire::make_page(folder_.c_str(), {run_, settings.allocator, library_.c_str(), false}, &trouble);
  if (trouble == nullptr || folder_.empty()) return;
  print_line(
      ("no counters page in " + folder_ + ": " + trouble + "; this process is not in the summary").c_str());
}

void ProcessPage::set_state(wire::PageState state) noexcept {
  slot_.load()->state.store(static_cast<std::uint32_t>(state));
}

wire::CountersPage* ProcessPage::renew_after_fork(bool visible) noexcept {
  wire::CountersPage* const parents = slot_.load();
  const auto allocator = static_cast<wire::Allocator>(parents->allocator.load());
  wire::CountersPage* const own =
      wire::make_page(visible ? folder_.c_str() : "", {run_, allocator, library_.c_str(), true}, nullptr);
  own->cache_limit.store(parents->cache_limit.load());
  own->memory_limit.store(parents->memory_limit.load());
  slot_ = own;
  return parents;
}

void ProcessPage::end() noexcept {
  wire::unmake_page(slot_.load(), run_ == 0 ? folder_.c_str() : "");
}

}  // namespace weir::govern
