#include "limits/scope.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weir::limits {

Bound minimum(const Bound& a, const Bound& b) {
  if (a.mode == Mode::kUnset) return b;
  if (b.mode == Mode::kUnset) return a;
  if (a.mode == Mode::kUnlimited) return b;
  if (b.mode == Mode::kUnlimited) return a;
  return *a.bytes <= *b.bytes ? a : b;
}

LimitScopes::Scope::Scope(Scope&& other) noexcept
    : owner_(std::exchange(other.owner_, nullptr)), id_(other.id_), previous_(other.previous_) {}

LimitScopes::Scope::~Scope() {
  if (owner_ != nullptr) owner_->leave(id_);
}

LimitScopes::Scope LimitScopes::enter(const Bound& bound) {
  WEIR_CHECK(bound.mode != Mode::kAuto);
  WEIR_CHECK((bound.mode == Mode::kBytes) == bound.bytes.has_value());
  const Bound before = in_force_;
  const Bound after = minimum(before, bound);
  open_.reserve(open_.size() + 1);  // so that nothing throws once the setter has acted
  if (after != before) setter_(after);
  in_force_ = after;
  open_.push_back({next_id_, bound});
  return Scope(this, next_id_++, before);
}

void LimitScopes::leave(std::uint64_t id) noexcept {
  open_.erase(std::remove_if(open_.begin(), open_.end(), [id](const Open& open) { return open.id == id; }),
              open_.end());
  Bound after;
  for (const Open& open : open_)
    after = minimum(after, open.bound);
  if (after == in_force_) return;
  in_force_ = after;
  setter_(after);
}

}  // namespace weir::limits
