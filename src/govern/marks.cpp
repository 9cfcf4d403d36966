#include "govern/marks.h"

#include "govern/process_page.h"

namespace weir::govern {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// Null before MLX's first call.
wire::CountersPage* own_page() noexcept {
  const PageSlot* const slot = ProcessPage::current();
  return slot == nullptr ? nullptr : slot->load(kRelaxed);
}

}  // namespace

void mark_phase(wire::Phase phase) noexcept {
  if (wire::CountersPage* const page = own_page())
    page->phase.store(static_cast<std::uint32_t>(phase), kRelaxed);
}

void mark_tokens(std::uint64_t count) noexcept {
  if (wire::CountersPage* const page = own_page()) page->tokens.fetch_add(count, kRelaxed);
}

void mark_request_end() noexcept {
  if (wire::CountersPage* const page = own_page()) page->requests.fetch_add(1, kRelaxed);
}

}  // namespace weir::govern
