#include "wire/agent_settings.h"

#include <cstring>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

constexpr const char* kExample =
    "v2 allocator=weir cache=67108864 memory=none host_clear=age enforce=0 children=1 huge_pages=1 trim_at=4 "
    "idle=30000 run=81923";

std::string printed(const AgentSettings& settings) {
  char text[kSettingsTextBytes];
  const std::size_t length = print_settings(settings, text);
  EXPECT_EQ(std::strlen(text), length);
  return text;
}

bool accepts(const std::string& text) {
  const AgentSettings marked{.cache_limit = 12345, .run = 777};
  AgentSettings settings = marked;
  const bool fits = parse_settings(text.c_str(), settings);
  if (!fits) {
    EXPECT_EQ(settings, marked) << "touched by: " << text;
  }
  return fits;
}

/// The example with one piece of it replaced.
std::string with(const std::string& piece, const std::string& by) {
  std::string text = kExample;
  const std::size_t at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), by);
}

TEST(AgentSettings, TheExampleMeansWhatItSays) {
  AgentSettings settings;
  ASSERT_TRUE(parse_settings(kExample, settings));
  AgentSettings expected;
  expected.allocator = Allocator::kWeir;
  expected.cache_unset = false;
  expected.cache_limit = 67108864;
  expected.trim_at = kTrimAtPressure;
  expected.idle_ms = 30'000;
  expected.run = 81923;
  EXPECT_EQ(settings, expected);
  EXPECT_EQ(printed(settings), kExample);
}

TEST(AgentSettings, EveryValueSurvivesItsText) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const auto number = [&] { return random() >> random() % 64; };
    AgentSettings settings;
    settings.allocator = static_cast<Allocator>(random() % 3);
    settings.cache_unset = random() % 3 == 0;
    settings.cache_limit = settings.cache_unset || random() % 4 == 0 ? kNoLimit : number();
    settings.memory_limit = random() % 4 == 0 ? kNoLimit : std::max<std::uint64_t>(1, number());
    settings.host_clear = static_cast<HostClear>(random() % 2);
    settings.enforce = random() % 2 == 0;
    settings.children = random() % 2 == 0;
    settings.huge_pages = random() % 2 == 0;
    settings.trim_at = static_cast<std::uint32_t>(random() % 8);
    settings.idle_ms = number();
    settings.run = number();
    const std::string text = printed(settings);
    AgentSettings again;
    ASSERT_TRUE(parse_settings(text.c_str(), again)) << text;
    EXPECT_EQ(again, settings) << text;
    EXPECT_EQ(printed(again), text);
  }
}

TEST(AgentSettings, OnlyTheExactFormIsAccepted) {
  ASSERT_TRUE(accepts(kExample));
  for (const std::string& text : {std::string(),
                                  std::string("v2"),
                                  std::string(" ") + kExample,
                                  std::string(kExample) + " ",
                                  std::string(kExample) + "\n",
                                  std::string(kExample) + " x=1",
                                  with("v2", "v1"),
                                  with("v2", "V2"),
                                  with("weir", "Weir"),
                                  with("weir", "weird"),
                                  with("weir", "mlx-policies"),
                                  with("weir", ""),
                                  with("67108864", "64MiB"),
                                  with("67108864", "-1"),
                                  with("67108864", "+1"),
                                  with("67108864", "007"),
                                  with("67108864", ""),
                                  with("67108864", "0x10"),
                                  with("67108864", "18446744073709551615"),
                                  with("67108864", "18446744073709551616"),
                                  with("67108864", "nonesuch"),
                                  with("67108864", "unsets"),
                                  with("memory=none", "memory=unset"),
                                  with("memory=none", "memory=0"),
                                  with("age", "aged"),
                                  with("enforce=0", "enforce=2"),
                                  with("enforce=0", "enforce=00"),
                                  with("enforce=0", "enforce=true"),
                                  with(" children=1", ""),
                                  with("children=1 huge_pages=1", "huge_pages=1 children=1"),
                                  with("children=1", "children=1 children=1"),
                                  with(" memory", "  memory"),
                                  with(" memory", "\tmemory"),
                                  with("trim_at=4", "trim_at=8"),
                                  with("trim_at=4", "trim_at=04"),
                                  with("trim_at=4", "trim_at=-"),
                                  with("trim_at=4", "trim_at="),
                                  with(" trim_at=4", ""),
                                  with("trim_at=4 idle=30000", "idle=30000 trim_at=4"),
                                  with("idle=30000", "idle=030000"),
                                  with("idle=30000", "idle=none"),
                                  with("idle=30000", "idle="),
                                  with(" idle=30000", ""),
                                  with("run=81923", "run="),
                                  with("run=81923", "run=81923k"),
                                  with("run", "Run")})
    EXPECT_FALSE(accepts(text)) << text;
}

TEST(AgentSettings, EveryShorterTextIsRefused) {
  const std::string text = kExample;
  for (std::size_t length = 0; length < text.size(); ++length) {
    const bool run_cut = length > text.rfind('=') + 1;
    EXPECT_EQ(accepts(text.substr(0, length)), run_cut) << length;
  }
}

TEST(AgentSettings, LongAndAbsentTextsAreRefused) {
  EXPECT_FALSE(accepts(std::string(1 << 20, 'v')));
  EXPECT_FALSE(accepts(kExample + std::string(kSettingsTextBytes, '1')));
  AgentSettings settings;
  EXPECT_FALSE(parse_settings(nullptr, settings));
}

TEST(AgentSettings, TheLongestTextFitsWithRoomToSpare) {
  AgentSettings settings;
  settings.allocator = Allocator::kMlxPolicy;
  settings.cache_unset = false;
  settings.cache_limit = settings.memory_limit = kNoLimit - 1;
  settings.host_clear = HostClear::kHonour;
  settings.trim_at = kTrimAtRequest | kTrimAtPhase | kTrimAtPressure;
  settings.idle_ms = kNoLimit;
  settings.run = kNoLimit;
  const std::string text = printed(settings);
  EXPECT_LT(text.size(), kSettingsTextBytes - 64);
  EXPECT_TRUE(accepts(text));
}

TEST(AgentSettings, AllocatorsAreFoundByTheirNamesAlone) {
  for (const Allocator one : {Allocator::kMlx, Allocator::kMlxPolicy, Allocator::kWeir}) {
    Allocator found = one == Allocator::kMlx ? Allocator::kWeir : Allocator::kMlx;
    const std::string name = allocator_name(one);
    EXPECT_TRUE(allocator_of_name(name.c_str(), name.size(), found));
    EXPECT_EQ(found, one);
  }
  Allocator untouched = Allocator::kMlxPolicy;
  EXPECT_FALSE(allocator_of_name("mlx-", 4, untouched));
  EXPECT_FALSE(allocator_of_name("", 0, untouched));
  EXPECT_EQ(untouched, Allocator::kMlxPolicy);
}

}  // namespace
}  // namespace weir::wire
