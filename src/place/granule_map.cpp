#include "place/granule_map.h"

#include <bit>

#include "base/check.h"

namespace weir::place {
namespace {

/// The bits of word `word` that [first, last] covers.
std::uint64_t covered(std::size_t word, Granule first, Granule last) {
  std::uint64_t mask = ~std::uint64_t{0};
  if (word == first / 64) mask &= ~std::uint64_t{0} << first % 64;
  if (word == last / 64) mask &= ~std::uint64_t{0} >> (63 - last % 64);
  return mask;
}

/// Inline: without a target option the compiler's own is a call.
std::uint32_t count_bits(std::uint64_t word) {
  word -= word >> 1 & 0x5555555555555555;
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
  return static_cast<std::uint32_t>(word * 0x0101010101010101 >> 56);
}

/// Appends one granule more; one that continues the last action (of this call: from `from` on) lengthens it.
void append(std::vector<Action>& actions, std::size_t from, const Action& next) {
  if (actions.size() > from) {
    Action& last = actions.back();
    const bool follows = last.kind == next.kind && last.granule + last.count == next.granule &&
                         (next.kind != Action::Kind::kMove || last.from + last.count == next.from);
    if (follows) {
      last.count += next.count;
      return;
    }
  }
  actions.push_back(next);
}

/// Takes away what was appended, unless kept: so that a failed append leaves the list as it was.
class Undo {
 public:
  explicit Undo(std::vector<Action>& actions) noexcept : actions_(actions), size_(actions.size()) {}
  Undo(const Undo&) = delete;
  Undo& operator=(const Undo&) = delete;
  ~Undo() {
    if (!kept_) actions_.erase(actions_.begin() + static_cast<std::ptrdiff_t>(size_), actions_.end());
  }
  void keep() noexcept { kept_ = true; }

 private:
  std::vector<Action>& actions_;
  std::size_t size_;
  bool kept_ = false;
};

}  // namespace

void GranuleMap::extend(Granule end) {
  const std::size_t words = (std::size_t{end} + 63) / 64;
  if (words > backed_.size()) backed_.resize(words);
  if (words > idle_.size()) idle_.resize(words);
  links_.extend(end);
}

std::uint32_t GranuleMap::unbacked(Granule first, Granule last) const noexcept {
  std::uint32_t count = 0;
  for (std::size_t word = first / 64; word <= last / 64; ++word)
    count += count_bits(~backed_[word] & covered(word, first, last));
  return count;
}

void GranuleMap::plan(Granule first, Granule last, const Plan& plan, std::vector<Action>& actions) const {
  const std::size_t from = actions.size();
  Undo undo(actions);
  Granule next = oldest_;
  const auto oldest_outside = [&] {
    while (next >= first && next <= last)
      next = links_[next].after;
    const Granule granule = next;
    next = links_[granule].after;
    return granule;
  };
  for (std::uint32_t i = 0; i < plan.returned; ++i)
    append(actions, from, {Action::Kind::kReturn, oldest_outside(), 1});
  std::uint32_t moved = 0;
  for (std::size_t word = first / 64; word <= last / 64; ++word) {
    for (std::uint64_t left = ~backed_[word] & covered(word, first, last); left != 0; left &= left - 1) {
      const auto granule = static_cast<Granule>(word * 64 + static_cast<std::size_t>(std::countr_zero(left)));
      if (moved < plan.moved) {
        append(actions, from, {Action::Kind::kMove, granule, 1, oldest_outside()});
        ++moved;
      } else {
        append(actions, from, {Action::Kind::kBack, granule, 1});
      }
    }
  }
  undo.keep();
}

void GranuleMap::apply(const Action& action) noexcept {
  for (Granule i = 0; i < action.count; ++i) {
    if (action.kind != Action::Kind::kBack) {
      const Granule source = (action.kind == Action::Kind::kMove ? action.from : action.granule) + i;
      unlink(source);
      clear(backed_, source);
      --backed_count_;
    }
    if (action.kind != Action::Kind::kReturn) {
      set(backed_, action.granule + i);
      ++backed_count_;
    }
  }
}

void GranuleMap::occupy(Granule first, Granule last, const std::vector<Action>& actions,
                        std::size_t from) noexcept {
  for (std::size_t i = from; i < actions.size(); ++i)
    apply(actions[i]);
  for (std::size_t word = first / 64; word <= last / 64; ++word)
    for (std::uint64_t left = idle_[word] & covered(word, first, last); left != 0; left &= left - 1)
      unlink(static_cast<Granule>(word * 64 + static_cast<std::size_t>(std::countr_zero(left))));
}

void GranuleMap::vacate(Granule first, Granule last, Tick now) noexcept {
  for (Granule granule = first; granule <= last; ++granule) {
    links_[granule] = {now, newest_, kNone};
    if (newest_ == kNone) {
      oldest_ = granule;
    } else {
      links_[newest_].after = granule;
    }
    newest_ = granule;
    set(idle_, granule);
  }
  idle_count_ += last - first + 1;
}

void GranuleMap::unlink(Granule granule) noexcept {
  const Link& link = links_[granule];
  (link.before == kNone ? oldest_ : links_[link.before].after) = link.after;
  (link.after == kNone ? newest_ : links_[link.after].before) = link.before;
  clear(idle_, granule);
  --idle_count_;
}

void GranuleMap::return_oldest(std::uint32_t count, std::vector<Action>& actions) {
  const std::size_t from = actions.size();
  Undo undo(actions);
  Granule next = oldest_;
  for (std::uint32_t i = 0; i < count; ++i, next = links_[next].after)
    append(actions, from, {Action::Kind::kReturn, next, 1});
  undo.keep();
  for (std::size_t i = from; i < actions.size(); ++i)
    apply(actions[i]);
}

void GranuleMap::shrink(std::uint32_t most, std::vector<Action>& actions) {
  if (idle_count_ > most) return_oldest(idle_count_ - most, actions);
}

void GranuleMap::shrink_older(Tick before, std::vector<Action>& actions) {
  std::uint32_t count = 0;
  for (Granule next = oldest_; next != kNone && links_[next].since < before; next = links_[next].after)
    ++count;
  return_oldest(count, actions);
}

void GranuleMap::check_laws() const {
  std::uint32_t backed = 0;
  std::uint32_t idle = 0;
  for (std::size_t word = 0; word < backed_.size(); ++word) {
    backed += count_bits(backed_[word]);
    WEIR_CHECK_EQ(idle_[word] & ~backed_[word], 0u);
  }
  WEIR_CHECK_EQ(backed, backed_count_);
  Granule last = kNone;
  for (Granule next = oldest_; next != kNone; last = next, next = links_[next].after, ++idle) {
    WEIR_CHECK(is_idle(next));
    WEIR_CHECK_EQ(links_[next].before, last);
    if (last != kNone) WEIR_CHECK_LE(links_[last].since, links_[next].since);
    WEIR_CHECK_LT(idle, idle_count_);
  }
  WEIR_CHECK_EQ(last, newest_);
  WEIR_CHECK_EQ(idle, idle_count_);
}

}  // namespace weir::place
