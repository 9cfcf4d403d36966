#include "limits/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::limits {
namespace {

using ::testing::HasSubstr;

TEST(ConfigFile, RefusesAKeyOfAHundredThousandParts) {
  std::string text;
  for (int i = 0; i < 100'000; ++i)
    text += "a.";
  EXPECT_FALSE(parse_config(text + "b=1", "config.toml"));
}

TEST(ConfigFile, TakesIntegersAndStrings) {
  const auto config = parse_config("cache_limit = \"512MiB\"\nmemory_limit = 8589934592\n", "c.toml");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->cache_limit->text, "512MiB");
  EXPECT_EQ(config->cache_limit->where, "c.toml:1");
  EXPECT_EQ(config->memory_limit->text, "8589934592");
  EXPECT_EQ(config->memory_limit->where, "c.toml:2");
  EXPECT_TRUE(parse_config("# nothing\n", "c.toml"));
}

struct Bad {
  const char* text;
  const char* where;
  const char* what;
};

TEST(ConfigFile, RefusesEverythingElseWithFileAndLine) {
  const Bad bad[] = {
      {"\ncache_limt = 1\n", "c.toml:2", "unknown key \"cache_limt\""},
      {"[limits]\ncache_limit = 1\n", "c.toml:1", "unknown key \"limits\""},
      {"cache_limit = 1.5\n", "c.toml:1", "neither an integer nor a string"},
      {"cache_limit = true\n", "c.toml:1", "neither an integer nor a string"},
      {"cache_limit = 1\ncache_limit = 2\n", "c.toml:2", "not TOML"},
      {"cache_limit = 512MiB\n", "c.toml:1", "not TOML"},
      {"\n\n[\x0bU", "c.toml:3", "control character"},
      {"cache_limit = \"\xff\"\n", "c.toml:1", "not TOML"},
      {"cache_limit = 99999999999999999999\n", "c.toml:1", "not TOML"},
  };
  for (const Bad& one : bad) {
    const auto config = parse_config(one.text, "c.toml");
    ASSERT_FALSE(config) << one.text;
    EXPECT_EQ(config.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(config.error().where, one.where) << one.text;
    EXPECT_THAT(config.error().message, HasSubstr(one.what));
  }
}

TEST(ConfigFile, IsFoundWhereTheDesktopRulesSay) {
  EXPECT_EQ(config_path({{"XDG_CONFIG_HOME", "/x"}, {"HOME", "/h"}}), "/x/weir/config.toml");
  EXPECT_EQ(config_path({{"XDG_CONFIG_HOME", ""}, {"HOME", "/h"}}), "/h/.config/weir/config.toml");
  EXPECT_EQ(config_path({{"XDG_CONFIG_HOME", "x"}, {"HOME", "/h"}}), "/h/.config/weir/config.toml");
  EXPECT_EQ(config_path({}), std::nullopt);
}

TEST(ConfigFile, MayBeAbsentAndMustOtherwiseBeReadable) {
  const auto absent = read_config("/nonexistent/weir/config.toml");
  ASSERT_TRUE(absent);
  EXPECT_FALSE(absent->cache_limit);
  EXPECT_FALSE(read_config(::testing::TempDir())) << "a folder";
}

}  // namespace
}  // namespace weir::limits
