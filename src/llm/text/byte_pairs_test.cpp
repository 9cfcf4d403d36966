#include "llm/text/byte_pairs.h"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weir::llm {
namespace {

struct Rule {
  std::int32_t left, right, merged;
};

// The definition: look for the best pair, merge its leftmost occurrence, again.
std::vector<std::int32_t> merged_by_definition(std::vector<std::int32_t> ids,
                                               const std::vector<Rule>& rules) {
  for (std::size_t rank = 0; rank < rules.size();) {
    std::size_t at = 0;
    while (at + 1 < ids.size() && (ids[at] != rules[rank].left || ids[at + 1] != rules[rank].right))
      ++at;
    if (at + 1 >= ids.size()) {
      ++rank;
      continue;
    }
    ids[at] = rules[rank].merged;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    rank = 0;
  }
  return ids;
}

TEST(BytePairs, EqualsTheDefinitionForRandomMergesAndWords) {
  std::mt19937 random(5);
  BytePairs::Scratch scratch;
  for (int round = 0; round < 3000; ++round) {
    BytePairs pairs;
    std::vector<Rule> rules;
    const auto id = [&random](std::int32_t below) {
      return static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(below));
    };
    // Any id may come of any pair, so that ranks go up and down as merges follow one another.
    for (int i = 0; i < 8; ++i) {
      const Rule rule{id(6), id(6), id(6)};
      if (pairs.add(rule.left, rule.right, rule.merged)) rules.push_back(rule);
    }
    std::vector<std::int32_t> word(static_cast<std::size_t>(id(24)));
    for (auto& letter : word)
      letter = id(6);
    std::vector<std::int32_t> merged;
    pairs.merge(word, scratch, merged);
    ASSERT_EQ(merged, merged_by_definition(word, rules)) << "round " << round;
  }
}

TEST(BytePairs, RefusesASecondMergeOfAPair) {
  BytePairs pairs;
  EXPECT_TRUE(pairs.add(1, 2, 3));
  EXPECT_FALSE(pairs.add(1, 2, 4));
  EXPECT_TRUE(pairs.add(2, 1, 4));
}

}  // namespace
}  // namespace weir::llm
