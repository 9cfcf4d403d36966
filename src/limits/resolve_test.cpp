#include "limits/resolve.h"

#include <unistd.h>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::limits {
namespace {

using ::testing::HasSubstr;

class Resolve : public ::testing::Test {
 protected:
  Resolve() {
    inputs_.denominators.free = [] { return Result<std::int64_t>(24'225'452'032); };
    inputs_.denominators.total = [] { return Result<std::int64_t>(25'276'510'208); };
  }
  ~Resolve() override {
    if (inputs_.config) std::filesystem::remove(*inputs_.config);
  }

  void write_config(const std::string& text) {
    inputs_.config = ::testing::TempDir() + "weir_resolve_" + std::to_string(::getpid()) + ".toml";
    std::ofstream(*inputs_.config) << text;
  }
  Setting cache() {
    auto resolved = resolve(inputs_);
    EXPECT_TRUE(resolved) << describe(resolved.error());
    return resolved ? resolved->cache_limit : Setting{};
  }
  Error error() {
    auto resolved = resolve(inputs_);
    EXPECT_FALSE(resolved);
    return resolved ? Error{ErrorKind::kInternal, "", ""} : resolved.error();
  }

  Inputs inputs_;
};

TEST_F(Resolve, LeavesTheLibraryDefaultWhenNobodySaysAnything) {
  const auto resolved = resolve(inputs_);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(echo(resolved->cache_limit), "unset (library default, 33,554,432 bytes)");
  EXPECT_EQ(echo(resolved->memory_limit), "unset (library default, 20,221,208,166 bytes)");
  EXPECT_EQ(resolved->cache_limit.source, "library default");
  EXPECT_EQ(resolved->cache_limit.bytes, std::nullopt);
  EXPECT_EQ(resolved->cache_limit.effective_bytes, 33'554'432);
  EXPECT_TRUE(resolved->warnings.empty());
}

TEST_F(Resolve, TakesTheHighestSourceThatIsPresent) {
  write_config("cache_limit = \"5MiB\"\n");
  EXPECT_EQ(echo(cache()), "5MiB = 5,242,880 bytes (" + inputs_.config->string() + ")");
  inputs_.variables["QWISP_LANE_MLX_CACHE_MB"] = "4";
  EXPECT_EQ(echo(cache()), "4 = 4,194,304 bytes (QWISP_LANE_MLX_CACHE_MB)");
  inputs_.variables["WEIR_CACHE_LIMIT"] = "3MiB";
  EXPECT_EQ(cache().source, "WEIR_CACHE_LIMIT");
  inputs_.cache_limit_flag = "2MiB";
  EXPECT_EQ(echo(cache()), "2MiB = 2,097,152 bytes (--cache-limit)");
  EXPECT_EQ(cache().effective_bytes, 2'097'152);
}

TEST_F(Resolve, KeepsTheTextAsItWasWritten) {
  inputs_.variables["WEIR_CACHE_LIMIT"] = " 64 MiB ";
  EXPECT_EQ(cache().text, " 64 MiB ");
  EXPECT_EQ(echo(cache()), "64 MiB = 67,108,864 bytes (WEIR_CACHE_LIMIT)");
}

TEST_F(Resolve, PrintsTheDenominatorOfAPercentage) {
  inputs_.variables["WEIR_CACHE_LIMIT"] = "10%free";
  const Setting setting = cache();
  EXPECT_EQ(setting.mode, Mode::kBytes);
  EXPECT_EQ(setting.bytes, 2'422'545'203);
  EXPECT_EQ(setting.denominator, "free");
  EXPECT_EQ(setting.denominator_bytes, 24'225'452'032);
  EXPECT_EQ(echo(setting), "10%free = 2,422,545,203 bytes (WEIR_CACHE_LIMIT; free is 24,225,452,032 bytes)");
}

TEST_F(Resolve, AsksForAModelWhenAPercentageIsOfOne) {
  inputs_.cache_limit_flag = "25%model";
  EXPECT_EQ(error().kind, ErrorKind::kUsage);
  EXPECT_THAT(error().message, HasSubstr("needs a model"));
  inputs_.denominators.model = [] { return Result<std::int64_t>(1000); };
  EXPECT_EQ(cache().bytes, 250);
}

TEST_F(Resolve, PassesOnTheErrorOfADenominator) {
  inputs_.cache_limit_flag = "25%free";
  inputs_.denominators.free = []() -> Result<std::int64_t> {
    return fail(ErrorKind::kEnvironment, "/proc/meminfo", "cannot read");
  };
  EXPECT_EQ(error().where, "/proc/meminfo");
}

TEST_F(Resolve, RefusesAShareThatRoundsDownToNoMemory) {
  inputs_.memory_limit_flag = "0.0000000001%total";
  EXPECT_EQ(error().where, "--memory-limit");
  EXPECT_THAT(error().message, HasSubstr("8GiB"));
}

TEST_F(Resolve, TellsUnlimitedFromUnset) {
  inputs_.cache_limit_flag = "unlimited";
  EXPECT_EQ(cache().effective_bytes, std::nullopt);
  EXPECT_EQ(echo(cache()), "unlimited (--cache-limit)");
  inputs_.cache_limit_flag = "unset";
  EXPECT_EQ(cache().effective_bytes, 33'554'432);
  EXPECT_EQ(echo(cache()), "unset (library default, 33,554,432 bytes; --cache-limit)");
}

TEST_F(Resolve, SaysWhatUnsetComesToOnThePool) {
  inputs_.backend = &weir_pool_rules();
  auto resolved = resolve(inputs_);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(echo(resolved->cache_limit), "unset (follows demand)");
  EXPECT_EQ(resolved->cache_limit.effective_bytes, std::nullopt);
  EXPECT_EQ(echo(resolved->memory_limit), "unset (no hard cap)");
  inputs_.cache_limit_flag = "unset";
  EXPECT_EQ(echo(cache()), "unset (follows demand; --cache-limit)");
  inputs_.cache_limit_flag = "unlimited";
  EXPECT_EQ(cache().unset_text, "") << "unlimited is not unset";
  inputs_.cache_limit_flag = "auto";
  EXPECT_THAT(echo(cache()), ::testing::StartsWith("auto = follows demand (--cache-limit; as unset: "));
  inputs_.auto_answer = [] { return AutoAnswer{Mode::kUnlimited, std::nullopt, "fresh"}; };
  EXPECT_EQ(echo(cache()), "auto = unlimited (--cache-limit; fresh)");
  inputs_.backend = &mlx_policy_rules();
  inputs_.cache_limit_flag.reset();
  EXPECT_EQ(echo(cache()), "unset (library default, 33,554,432 bytes)");
}

TEST_F(Resolve, SaysThatThePoolsMemoryLimitIsHard) {
  for (const BackendRules* rules : {&mlx_policy_rules(), &weir_pool_rules()}) {
    inputs_.backend = rules;
    EXPECT_THAT(resolve(inputs_)->memory_limit.rules, HasSubstr("hard"));
  }
}

TEST_F(Resolve, BindsZeroFromOllamasNameAndNothingFromQwisps) {
  inputs_.variables["OLLAMA_MLX_CACHE_LIMIT"] = "0";
  EXPECT_EQ(cache().bytes, 0);
  EXPECT_EQ(cache().source, "OLLAMA_MLX_CACHE_LIMIT");
  inputs_.variables = {{"QWISP_PREFILL_MLX_CACHE_MB", "0"}};
  EXPECT_EQ(cache().source, "library default");
  inputs_.variables["QWISP_LANE_MLX_CACHE_MB"] = "2048";
  EXPECT_EQ(cache().bytes, 2'147'483'648);
}

TEST_F(Resolve, RefusesZeroAsMemoryLimitFromEverySource) {
  inputs_.variables["OLLAMA_MLX_MEMORY_LIMIT"] = "0";
  EXPECT_EQ(error().where, "OLLAMA_MLX_MEMORY_LIMIT");
  inputs_.variables = {{"WEIR_MEMORY_LIMIT", "0"}};
  EXPECT_EQ(error().where, "WEIR_MEMORY_LIMIT");
  inputs_.variables.clear();
  inputs_.memory_limit_flag = "0";
  EXPECT_EQ(error().where, "--memory-limit");
  inputs_.memory_limit_flag.reset();
  write_config("\nmemory_limit = 0\n");
  EXPECT_EQ(error().where, inputs_.config->string() + ":2: memory_limit");
}

TEST_F(Resolve, RefusesCompatibilityNamesThatDisagree) {
  inputs_.variables = {{"QWISP_LANE_MLX_CACHE_MB", "512"}, {"OLLAMA_MLX_CACHE_LIMIT", "536870912"}};
  EXPECT_EQ(cache().source, "OLLAMA_MLX_CACHE_LIMIT");  // equal bytes agree
  inputs_.variables["QWISP_PREFILL_MLX_CACHE_MB"] = "256";
  EXPECT_EQ(error().kind, ErrorKind::kUsage);
  EXPECT_THAT(error().message, HasSubstr("OLLAMA_MLX_CACHE_LIMIT=\"536870912\""));
  EXPECT_THAT(error().message, HasSubstr("QWISP_PREFILL_MLX_CACHE_MB=\"256\""));
  inputs_.cache_limit_flag = "1GiB";
  EXPECT_THAT(error().message, HasSubstr("disagree")) << "a flag does not hide it";
}

TEST_F(Resolve, NeverIgnoresAMalformedSourceThatAHigherOneOverrules) {
  inputs_.cache_limit_flag = "1GiB";
  inputs_.variables = {{"WEIR_CACHE_LIMIT", ""}};
  EXPECT_EQ(error().where, "WEIR_CACHE_LIMIT");
  inputs_.variables = {{"QWISP_LANE_MLX_CACHE_MB", "2G"}};
  EXPECT_EQ(error().where, "QWISP_LANE_MLX_CACHE_MB");
  inputs_.variables.clear();
  write_config("cache_limit = \"10%\"\n");
  EXPECT_EQ(error().where, inputs_.config->string() + ":1: cache_limit");
}

TEST_F(Resolve, TakesAutoFromTheStoredSuite) {
  inputs_.cache_limit_flag = "auto";
  inputs_.auto_answer = [] { return AutoAnswer{Mode::kBytes, 67'108'864, "fresh SHIP in every cell"}; };
  EXPECT_EQ(cache().mode, Mode::kAuto);
  EXPECT_EQ(cache().bytes, std::nullopt);
  EXPECT_EQ(cache().effective_bytes, 67'108'864);
  EXPECT_EQ(echo(cache()), "auto = 67,108,864 bytes (--cache-limit; fresh SHIP in every cell)");
}

TEST_F(Resolve, SaysThatAutoBehavesAsUnsetWithoutAFreshSuite) {
  inputs_.cache_limit_flag = "auto";
  const auto resolved = resolve(inputs_);
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->cache_limit.effective_bytes, 33'554'432);
  ASSERT_EQ(resolved->warnings.size(), 1u);
  EXPECT_EQ(resolved->warnings[0].name, "--cache-limit");
  EXPECT_THAT(resolved->warnings[0].what, HasSubstr("auto behaves as unset: no fresh SHIP"));
}

TEST_F(Resolve, WarnsOfNamesThatNothingReads) {
  inputs_.variables = {{"MLX_METAL_CACHE_LIMIT", "4GB"}, {"HOME", "/root"}};
  const auto resolved = resolve(inputs_);
  ASSERT_TRUE(resolved);
  ASSERT_EQ(resolved->warnings.size(), 1u);
  EXPECT_EQ(resolved->warnings[0].name, "MLX_METAL_CACHE_LIMIT");
}

TEST_F(Resolve, SaysWhatEachKnobRulesOnThisBackend) {
  const auto resolved = resolve(inputs_);
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->cache_limit.rules, HasSubstr("freed buffers"));
  EXPECT_THAT(resolved->memory_limit.rules,
              HasSubstr("on this backend MLX's own memory limit refuses nothing: it only makes eval wait"));
}

}  // namespace
}  // namespace weir::limits
