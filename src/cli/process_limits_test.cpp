#include "cli/process_limits.h"

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::cli {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

ledger::PageReading page(std::uint64_t cache_limit, wire::Allocator allocator = wire::Allocator::kWeir) {
  ledger::PageReading page;
  page.pid = 7;
  page.run = 5;
  page.command = "python3.11";
  page.allocator = allocator;
  page.cache_limit = cache_limit;
  return page;
}

wire::AgentSettings started(std::optional<std::uint64_t> cache_limit) {
  wire::AgentSettings settings;
  settings.cache_unset = !cache_limit;
  settings.cache_limit = cache_limit.value_or(wire::kNoLimit);
  return settings;
}

ledger::ActReading act(wire::ActKind kind, std::uint64_t argument) {
  ledger::ActReading act;
  act.kind = kind;
  act.argument = argument;
  return act;
}

std::string source(const ledger::PageReading& page, const std::optional<wire::AgentSettings>& started) {
  return limits_in_force(page, started).cache_limit.source;
}

TEST(ProcessLimits, AreThoseOfThePage) {
  ledger::PageReading reading = page(64 * kMiB);
  reading.memory_limit = 2'048 * kMiB;
  const limits::Resolved resolved = limits_in_force(reading, started(64 * kMiB));
  EXPECT_EQ(resolved.cache_limit.mode, limits::Mode::kBytes);
  EXPECT_EQ(resolved.cache_limit.bytes, 67'108'864);
  EXPECT_EQ(resolved.cache_limit.effective_bytes, 67'108'864);
  EXPECT_EQ(resolved.cache_limit.source, "process 7: weir run");
  EXPECT_EQ(limits::echo_value(resolved.cache_limit), "67,108,864 bytes");
  EXPECT_EQ(resolved.memory_limit.effective_bytes, 2'147'483'648);
  EXPECT_TRUE(resolved.warnings.empty());
}

TEST(ProcessLimits, AreUnsetWhereNobodyAsked) {
  const limits::Resolved pool = limits_in_force(page(wire::kNoLimit), started(std::nullopt));
  EXPECT_EQ(pool.cache_limit.mode, limits::Mode::kUnset);
  EXPECT_EQ(limits::echo_value(pool.cache_limit), "unset (follows demand)");
  EXPECT_EQ(limits::echo_value(pool.memory_limit), "unset (no hard cap)");
  EXPECT_EQ(pool.cache_limit.source, "process 7: library default");
  const limits::Resolved policy =
      limits_in_force(page(32 * kMiB, wire::Allocator::kMlxPolicy), started(std::nullopt));
  EXPECT_EQ(policy.cache_limit.mode, limits::Mode::kUnset);
  EXPECT_EQ(policy.cache_limit.effective_bytes, 33'554'432);
}

TEST(ProcessLimits, TellUnlimitedFromUnset) {
  const limits::Resolved resolved = limits_in_force(page(wire::kNoLimit), started(wire::kNoLimit));
  EXPECT_EQ(resolved.cache_limit.mode, limits::Mode::kUnlimited);
  EXPECT_EQ(resolved.cache_limit.source, "process 7: weir run");
}

TEST(ProcessLimits, NameTheVerbThatSetThem) {
  ledger::PageReading reading = page(16 * kMiB);
  reading.acts = {act(wire::ActKind::kSetCacheLimit, 8 * kMiB), act(wire::ActKind::kSetCacheLimit, 16 * kMiB),
                  act(wire::ActKind::kTrim, 0)};
  EXPECT_EQ(source(reading, started(64 * kMiB)), "process 7: ctl");
  EXPECT_EQ(limits_in_force(reading, started(64 * kMiB)).memory_limit.source, "process 7: library default");
}

TEST(ProcessLimits, NameTheProgramWhereItIsTighter) {
  ledger::PageReading reading = page(16 * kMiB);
  reading.host_limits = 2;
  EXPECT_EQ(source(reading, started(64 * kMiB)), "process 7: program");
  EXPECT_EQ(source(reading, started(std::nullopt)), "process 7: program");
  EXPECT_EQ(source(reading, std::nullopt), "process 7: weir run or program");
  reading.acts = {act(wire::ActKind::kSetCacheLimit, 64 * kMiB)};
  EXPECT_EQ(source(reading, started(std::nullopt)), "process 7: ctl or program");
  ASSERT_EQ(limits_in_force(reading, std::nullopt).warnings.size(), 1u);
}

TEST(ProcessLimits, ClaimNoMoreThanTheyKnow) {
  EXPECT_EQ(source(page(16 * kMiB), std::nullopt), "process 7: weir run");
  ledger::PageReading alone = page(16 * kMiB);
  alone.run = 0;
  EXPECT_EQ(source(alone, std::nullopt), "process 7: program") << "weir's own runner, by its flag";
  alone.cache_limit = wire::kNoLimit;
  EXPECT_EQ(source(alone, std::nullopt), "process 7: library default");
}

TEST(ProcessLimits, ReadWhatARunningProcessWasTold) {
  EXPECT_FALSE(settings_at_start(1 << 30)) << "no such process";
  wire::AgentSettings settings;
  settings.cache_unset = false;
  settings.cache_limit = 64 * kMiB;
  settings.run = 5;
  char text[wire::kSettingsTextBytes];
  wire::print_settings(settings, text);
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string told = std::string(wire::kAgentVariable) + "=" + text;
    char* const arguments[] = {const_cast<char*>("sleep"), const_cast<char*>("30"), nullptr};
    char* const variables[] = {const_cast<char*>("A=b"), const_cast<char*>(told.c_str()), nullptr};
    ::execve("/bin/sleep", arguments, variables);
    ::_exit(127);
  }
  std::optional<wire::AgentSettings> found;
  for (int i = 0; i < 1000 && !(found && found->run == 5); ++i) {
    found = settings_at_start(child);
    ::usleep(1000);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(found, settings);
}

}  // namespace
}  // namespace weir::cli
