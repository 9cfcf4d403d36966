#include "place/mlx_rule.h"

#include <limits>
#include <list>
#include <map>
#include <random>

#include <gtest/gtest.h>

namespace weir::place {
namespace {

/// MLX's buffer cache, written from its description with the containers that it uses itself.
class NaiveRule {
 public:
  std::optional<KeptBlock> reuse(std::uint64_t size) {
    const auto found = by_capacity_.lower_bound(size);
    if (found == by_capacity_.end() || found->first >= std::min(2 * size, size + 8192)) return std::nullopt;
    const KeptBlock block = *found->second;
    forget(found);
    return block;
  }
  bool keep(const KeptBlock& block) {
    if (block.capacity == 0 || kept_ + block.capacity > limit_) return false;
    recent_.push_front(block);
    by_capacity_.emplace(block.capacity, recent_.begin());
    kept_ += block.capacity;
    return true;
  }
  void set_limit(std::uint64_t limit) {
    limit_ = limit;
    if (kept_ <= limit) return;
    const std::uint64_t least = kept_ - limit;
    if (least >= 0.9 * kept_) return clear();
    for (std::uint64_t freed = 0; !recent_.empty() && freed < least;) {
      const auto last = std::prev(recent_.end());
      freed += last->capacity;
      auto found = by_capacity_.lower_bound(last->capacity);
      while (found->second != last)
        ++found;
      forget(found);
    }
  }
  void clear() {
    recent_.clear();
    by_capacity_.clear();
    kept_ = 0;
  }
  [[nodiscard]] std::uint64_t kept_bytes() const { return kept_; }
  [[nodiscard]] bool holds(Offset offset) const {
    for (const KeptBlock& block : recent_)
      if (block.offset == offset) return true;
    return false;
  }

 private:
  using Recent = std::list<KeptBlock>;
  void forget(std::multimap<std::uint64_t, Recent::iterator>::iterator entry) {
    kept_ -= entry->first;
    recent_.erase(entry->second);
    by_capacity_.erase(entry);
  }

  std::uint64_t limit_ = 32ULL << 20, kept_ = 0;
  Recent recent_;
  std::multimap<std::uint64_t, Recent::iterator> by_capacity_;
};

MlxRule with(const std::vector<KeptBlock>& blocks, std::uint64_t limit = kNoBound) {
  MlxRule rule(limit);
  for (const KeptBlock& block : blocks)
    EXPECT_TRUE(rule.keep(block));
  return rule;
}

std::vector<Offset> offsets(const std::vector<KeptBlock>& blocks) {
  std::vector<Offset> found;
  for (const KeptBlock& block : blocks)
    found.push_back(block.offset);
  return found;
}

TEST(MlxRule, ReusesTheSmallestThatFitsAndOfEqualOnesTheOldest) {
  MlxRule rule = with({{1, 3000}, {2, 2000}, {3, 2000}, {4, 2500}});
  EXPECT_EQ(rule.reuse(1800)->offset, 2u);
  EXPECT_EQ(rule.reuse(1800)->offset, 3u);
  EXPECT_EQ(rule.reuse(1800)->offset, 4u);
  EXPECT_EQ(rule.reuse(1800)->offset, 1u);
  EXPECT_FALSE(rule.reuse(1800));
  EXPECT_EQ(rule.kept_bytes(), 0u);
}

TEST(MlxRule, TheWindowEndsBelowTwiceTheSizeAndBelowTwoPagesMore) {
  EXPECT_TRUE(with({{1, 199}}).reuse(100));
  EXPECT_FALSE(with({{1, 200}}).reuse(100));
  EXPECT_TRUE(with({{1, 100'000 + 8191}}).reuse(100'000));
  EXPECT_FALSE(with({{1, 100'000 + 8192}}).reuse(100'000));
  EXPECT_TRUE(with({{1, 8192 + 8191}}).reuse(8192));
  EXPECT_FALSE(with({{1, 99}}).reuse(100));
}

TEST(MlxRule, NothingIsReusedForZeroBytesAndNothingEmptyIsKept) {
  MlxRule rule = with({{1, 1}});
  EXPECT_FALSE(rule.reuse(0));
  EXPECT_FALSE(rule.keep({2, 0}));
  EXPECT_EQ(rule.reuse(1)->offset, 1u);
}

TEST(MlxRule, SizesNearTheEndOfTheNumbersFindNothing) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  MlxRule rule = with({{1, 4096}, {2, std::uint64_t{1} << 40}});
  for (const std::uint64_t size : {kMost, kMost - 8192, std::uint64_t{1} << 63, (std::uint64_t{1} << 63) + 1})
    EXPECT_FALSE(rule.reuse(size)) << size;
}

TEST(MlxRule, KeepsUpToTheLimitAndNeverEvictsForIt) {
  MlxRule rule(1000);
  EXPECT_TRUE(rule.keep({1, 600}));
  EXPECT_FALSE(rule.keep({2, 401}));
  EXPECT_TRUE(rule.keep({3, 400}));
  EXPECT_EQ(rule.kept_bytes(), 1000u);
}

TEST(MlxRule, LoweringTheLimitDropsTheLeastRecentlyKept) {
  MlxRule rule = with({{1, 300}, {2, 300}, {3, 300}, {4, 300}});
  std::vector<KeptBlock> dropped;
  EXPECT_EQ(rule.set_limit(700, dropped), kNoBound);
  EXPECT_EQ(offsets(dropped), (std::vector<Offset>{1, 2}));
  EXPECT_EQ(rule.limit(), 700u);
  EXPECT_EQ(rule.set_limit(600, dropped), 700u);
  EXPECT_EQ(dropped.size(), 2u);
}

TEST(MlxRule, WhereNineTenthsMustGoEverythingGoes) {
  const std::vector<KeptBlock> blocks{{1, 500}, {2, 400}, {3, 50}, {4, 50}};
  std::vector<KeptBlock> most, all;
  MlxRule above = with(blocks);
  above.set_limit(101, most);
  EXPECT_EQ(offsets(most), (std::vector<Offset>{1, 2}));
  MlxRule at = with(blocks);
  at.set_limit(100, all);
  EXPECT_EQ(all.size(), 4u);
  EXPECT_EQ(at.kept_bytes(), 0u);
}

TEST(MlxRule, ClearAppendsEverything) {
  MlxRule rule = with({{1, 10}, {2, 20}});
  std::vector<KeptBlock> dropped{{9, 9}};
  rule.clear(dropped);
  EXPECT_EQ(offsets(dropped), (std::vector<Offset>{9, 1, 2}));
  EXPECT_FALSE(rule.reuse(10));
}

/// Sizes that meet: few distinct ones, their neighbours, the edges of the window, and any.
std::uint64_t drawn_size(std::mt19937_64& random) {
  const std::uint64_t base = (random() % 40) * (random() % 40) * 1024;
  switch (random() % 6) {
    case 0:
      return base;
    case 1:
      return base + random() % 64;
    case 2:
      return base + 8192 - random() % 3;
    case 3:
      return 2 * base + 1 - random() % 2;
    case 4:
      return random() % 300;
    default:
      return random() % (8ULL << 20);
  }
}

class Twins {
 public:
  explicit Twins(std::uint64_t seed) : random_(seed) { (void)rule_.set_limit(32ULL << 20, dropped_); }
  void step() {
    switch (random_() % 64) {
      case 0:
        return set_limit();
      case 1:
        return random_() % 8 == 0 ? clear() : step();
      default:
        return random_() % 2 == 0 ? keep() : reuse();
    }
  }
  void compare() {
    ASSERT_EQ(rule_.kept_bytes(), naive_.kept_bytes());
    for (const KeptBlock& block : dropped_)
      ASSERT_FALSE(naive_.holds(block.offset));
    dropped_.clear();
  }

 private:
  void keep() {
    const KeptBlock block{++offset_, drawn_size(random_)};
    ASSERT_EQ(rule_.keep(block), naive_.keep(block));
  }
  void reuse() {
    const std::uint64_t size = drawn_size(random_);
    const auto mine = rule_.reuse(size);
    const auto theirs = naive_.reuse(size);
    ASSERT_EQ(mine.has_value(), theirs.has_value()) << size;
    if (mine) {
      ASSERT_EQ(mine->offset, theirs->offset) << size;
    }
  }
  void set_limit() {
    const std::uint64_t kept = naive_.kept_bytes();
    const std::uint64_t choices[] = {kept / 10, kept / 10 + 1,          kept / 2, kept, kept - kept / 3,
                                     0,         random_() % (64 << 20), kNoBound};
    const std::uint64_t limit = choices[random_() % std::size(choices)];
    rule_.set_limit(limit, dropped_);
    naive_.set_limit(limit);
    if (random_() % 4 != 0) return;
    rule_.set_limit(64ULL << 20, dropped_);
    naive_.set_limit(64ULL << 20);
  }
  void clear() {
    rule_.clear(dropped_);
    naive_.clear();
  }

  std::mt19937_64 random_;
  MlxRule rule_;
  NaiveRule naive_;
  Offset offset_ = 0;
  std::vector<KeptBlock> dropped_;
};

TEST(MlxRule, EqualsANaivePortOverRandomOperations) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Twins twins(seed);
    for (int i = 0; i < 10'000; ++i) {
      twins.step();
      twins.compare();
      if (HasFatalFailure()) FAIL() << "seed " << seed << " step " << i;
    }
  }
}

TEST(MlxRule, ForgetsSizesThatNobodyKeepsAnyMore) {
  MlxRule rule(kNoBound);
  for (std::uint64_t i = 1; i <= 200'000; ++i) {
    ASSERT_TRUE(rule.keep({i, i * 4096}));
    ASSERT_EQ(rule.reuse(i * 4096)->offset, i);
  }
  EXPECT_EQ(rule.kept_bytes(), 0u);
}

}  // namespace
}  // namespace weir::place
