#include "govern/process_page.h"

#include <unistd.h>
#include <cstdio>

#include "wire/kept_errno.h"
#include "wire/page_file.h"

namespace weir::govern {
namespace {

std::atomic<const PageSlot*> current_slot{nullptr};

}  // namespace

void print_line(const char* text) noexcept {
  const wire::KeptErrno kept;
  char line[512];
  int length = std::snprintf(line, sizeof line, "weir: %s\n", text);
  if (length >= static_cast<int>(sizeof line)) {
    length = sizeof line - 1;
    line[length - 1] = '\n';
  }
  // One write, so that lines of several processes do not mix; where it fails nobody is listening.
  if (length <= 0) return;
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

ProcessPage::ProcessPage(const wire::AgentSettings& settings, const char* library, const char* folder)
    : library_(library), folder_(folder), run_(settings.run) {
  const char* trouble = nullptr;
  const wire::PageFacts facts{
      .run = run_, .allocator = settings.allocator, .library = library_.c_str(), .forked = false};
  slot_ = wire::make_page(folder_.c_str(), facts, &trouble);
  current_slot = &slot_;
  if (trouble == nullptr || folder_.empty() || run_ == 0) return;
  print_line(
      ("no counters page in " + folder_ + ": " + trouble + "; this process is not in the summary").c_str());
}

ProcessPage::~ProcessPage() {
  const PageSlot* own = &slot_;
  current_slot.compare_exchange_strong(own, nullptr);
}

const PageSlot* ProcessPage::current() noexcept {
  return current_slot.load(std::memory_order_acquire);
}

void ProcessPage::set_state(wire::PageState state) noexcept {
  slot_.load()->state.store(static_cast<std::uint32_t>(state));
}

wire::CountersPage* ProcessPage::renew_after_fork(bool visible) noexcept {
  wire::CountersPage* const parents = slot_.load();
  const wire::PageFacts facts{.run = run_,
                              .allocator = static_cast<wire::Allocator>(parents->allocator.load()),
                              .library = library_.c_str(),
                              .forked = true,
                              .backend = static_cast<wire::Backend>(parents->backend.load())};
  wire::CountersPage* const own = wire::make_page(visible ? folder_.c_str() : "", facts, nullptr);
  own->cache_limit.store(parents->cache_limit.load());
  own->memory_limit.store(parents->memory_limit.load());
  slot_ = own;
  return parents;
}

void ProcessPage::end() noexcept {
  wire::unmake_page(slot_.load(), run_ == 0 ? folder_.c_str() : "");
}

}  // namespace weir::govern
