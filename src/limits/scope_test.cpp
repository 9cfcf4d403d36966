#include "limits/scope.h"

#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

namespace weir::limits {

/// Shown by GoogleTest on failure.
void PrintTo(const Bound& bound, std::ostream* out) {
  *out << mode_name(bound.mode) << " " << bound.bytes.value_or(-1);
}

namespace {

class Scopes : public ::testing::Test {
 protected:
  std::vector<Bound> applied_;
  LimitScopes scopes_{[this](const Bound& bound) { applied_.push_back(bound); }};
};

TEST_F(Scopes, TightenAndRestore) {
  {
    const auto outer = scopes_.enter(Bound::of_bytes(100));
    EXPECT_EQ(outer.previous(), Bound::unset());
    {
      const auto inner = scopes_.enter(Bound::of_bytes(10));
      EXPECT_EQ(inner.previous(), Bound::of_bytes(100));
      EXPECT_EQ(scopes_.in_force(), Bound::of_bytes(10));
    }
    EXPECT_EQ(scopes_.in_force(), Bound::of_bytes(100));
  }
  const std::vector<Bound> expected = {Bound::of_bytes(100), Bound::of_bytes(10), Bound::of_bytes(100),
                                       Bound::unset()};
  EXPECT_EQ(applied_, expected);
}

TEST_F(Scopes, NeverLoosen) {
  const auto outer = scopes_.enter(Bound::of_bytes(10));
  const auto larger = scopes_.enter(Bound::of_bytes(100));
  const auto unlimited = scopes_.enter(Bound::unlimited());
  const auto unset = scopes_.enter(Bound::unset());
  EXPECT_EQ(scopes_.in_force(), Bound::of_bytes(10));
  EXPECT_EQ(applied_.size(), 1u) << "the setter hears of changes only";
}

TEST_F(Scopes, UnsetGivesWayToUnlimitedAndToNumbers) {
  const auto unset = scopes_.enter(Bound::unset());
  EXPECT_TRUE(applied_.empty());
  const auto unlimited = scopes_.enter(Bound::unlimited());
  EXPECT_EQ(scopes_.in_force(), Bound::unlimited());
  const auto zero = scopes_.enter(Bound::of_bytes(0));
  EXPECT_EQ(scopes_.in_force(), Bound::of_bytes(0));
}

TEST_F(Scopes, MayLeaveInAnyOrder) {
  std::optional<LimitScopes::Scope> outer(scopes_.enter(Bound::of_bytes(10)));
  std::optional<LimitScopes::Scope> inner(scopes_.enter(Bound::of_bytes(20)));
  outer.reset();
  EXPECT_EQ(scopes_.in_force(), Bound::of_bytes(20));
  inner.reset();
  EXPECT_EQ(scopes_.in_force(), Bound::unset());
}

TEST(ScopesWithAFailingSetter, AreNotEntered) {
  LimitScopes scopes([](const Bound& bound) {
    if (bound.bytes == 13) throw std::runtime_error("no");
  });
  const auto outer = scopes.enter(Bound::of_bytes(100));
  EXPECT_THROW(static_cast<void>(scopes.enter(Bound::of_bytes(13))), std::runtime_error);
  EXPECT_EQ(scopes.in_force(), Bound::of_bytes(100));
}

Bound random_bound(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return Bound::unset();
    case 1:
      return Bound::unlimited();
    default:
      return Bound::of_bytes(static_cast<std::int64_t>(random() % 5));
  }
}

/// The rule said another way: the smallest number, else unlimited if asked, else unset.
Bound expected(const std::vector<Bound>& open) {
  Bound result;
  for (const Bound& bound : open) {
    if (bound.mode == Mode::kUnlimited && result.mode == Mode::kUnset) result = bound;
    if (bound.mode == Mode::kBytes) {
      result = result.mode == Mode::kBytes ? Bound::of_bytes(std::min(*result.bytes, *bound.bytes)) : bound;
    }
  }
  return result;
}

TEST(ScopesProperty, AnyNestingIsTheMinimumAndLeavesNothingBehind) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    Bound applied;
    LimitScopes scopes([&](const Bound& bound) {
      EXPECT_NE(bound, applied) << "only changes are applied";
      applied = bound;
    });
    std::vector<Bound> bounds;
    std::vector<LimitScopes::Scope> open;
    std::vector<std::optional<LimitScopes::Scope>> held(40);
    std::vector<std::optional<Bound>> model(40);
    for (int step = 0; step < 120; ++step) {
      const auto at = random() % held.size();
      if (held[at]) {
        held[at].reset();
        model[at].reset();
      } else {
        model[at] = random_bound(random);
        const Bound before = scopes.in_force();
        held[at].emplace(scopes.enter(*model[at]));
        EXPECT_EQ(held[at]->previous(), before);
      }
      bounds.clear();
      for (const auto& bound : model) {
        if (bound) bounds.push_back(*bound);
      }
      ASSERT_EQ(scopes.in_force(), expected(bounds));
      ASSERT_EQ(applied, scopes.in_force());
    }
    held.clear();
    EXPECT_EQ(applied, Bound::unset());
  }
}

}  // namespace
}  // namespace weir::limits
