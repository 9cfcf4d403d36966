#include "pool/size_classes.h"

#include "base/check.h"

namespace weir::pool {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

void SizeClasses::move_to(wire::SizeClass* place) noexcept {
  wire::SizeClass* const to = place == nullptr ? own_.data() : place;
  for (std::size_t each = 0; each < wire::kSizeClasses; ++each) {
    to[each].allocations.store(at_[each].allocations.load(kRelaxed), kRelaxed);
    to[each].hits.store(at_[each].hits.load(kRelaxed), kRelaxed);
    to[each].retained.store(kept_[each], kRelaxed);
    to[each].last_allocation.store(at_[each].last_allocation.load(kRelaxed), kRelaxed);
  }
  at_ = to;
}

void SizeClasses::begin_child() noexcept {
  at_ = own_.data();
  for (std::size_t each = 0; each < wire::kSizeClasses; ++each) {
    own_[each].allocations.store(0, kRelaxed);
    own_[each].hits.store(0, kRelaxed);
    own_[each].retained.store(kept_[each], kRelaxed);
    own_[each].last_allocation.store(0, kRelaxed);
  }
}

void SizeClasses::check_laws(std::uint64_t allocations, std::uint64_t hits, std::uint64_t kept) const {
  for (std::size_t each = 0; each < wire::kSizeClasses; ++each) {
    const wire::SizeClass& counts = at_[each];
    WEIR_CHECK_EQ(counts.retained.load(kRelaxed), kept_[each]);
    WEIR_CHECK_LE(counts.hits.load(kRelaxed), counts.allocations.load(kRelaxed));
    allocations -= counts.allocations.load(kRelaxed);
    hits -= counts.hits.load(kRelaxed);
    kept -= kept_[each];
  }
  WEIR_CHECK_EQ(allocations, std::uint64_t{0});
  WEIR_CHECK_EQ(hits, std::uint64_t{0});
  WEIR_CHECK_EQ(kept, std::uint64_t{0});
}

}  // namespace weir::pool
