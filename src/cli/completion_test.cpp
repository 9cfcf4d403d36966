#include "cli/completion.h"

#include <array>
#include <cstdio>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/subcommands.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;

/// stdout of a shell command; "" with a failed expectation when it fails.
std::string output_of(const std::string& command) {
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  while (const std::size_t got = std::fread(part.data(), 1, part.size(), pipe))
    out.append(part.data(), got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return out;
}

std::string script_file(const char* shell) {
  const std::string path = ::testing::TempDir() + "weir_completion." + shell;
  const auto script = completion_script(shell, subcommands());
  EXPECT_TRUE(script);
  std::ofstream(path) << script.value_or("");
  return path;
}

/// What bash offers for the last of `words`.
std::string offered(const std::string& words, int at) {
  return output_of("bash -c 'source " + script_file("bash") + "; compopt() { :; }; COMP_WORDS=(" + words +
                   "); COMP_CWORD=" + std::to_string(at) + "; _weir; echo \"${COMPREPLY[*]}\"'");
}

TEST(Completion, OffersSubcommandsThenTheirFlagsInBash) {
  EXPECT_EQ(offered("weir lim", 1), "limits\n");
  EXPECT_THAT(offered("weir \"\"", 1), HasSubstr("doctor"));
  EXPECT_EQ(offered("weir limits --cache", 2), "--cache-limit\n");
  EXPECT_EQ(offered("weir --quiet doctor --js", 3), "--json\n");
  EXPECT_EQ(offered("weir limits smol", 2), "smollm2\n");
  EXPECT_EQ(offered("weir completion z", 2), "zsh\n");
}

TEST(Completion, OffersTheValuesOfAFlagThatHasAFewInBash) {
  EXPECT_EQ(offered("weir run --allocator mlx-", 3), "mlx-policy\n");
  EXPECT_EQ(offered("weir run --host-clear \"\"", 3), "age honour\n");
  EXPECT_EQ(offered("weir run --allocator = w", 4), "weir\n") << "bash splits at the equals sign";
  EXPECT_EQ(offered("weir run --allocator =", 3), "mlx mlx-policy weir\n");
}

TEST(Completion, NamesTheValuesOfAFlagInTheOtherShells) {
  EXPECT_THAT(*completion_script("zsh", subcommands()), HasSubstr(":ALLOCATOR:(mlx mlx-policy weir)'"));
  EXPECT_THAT(*completion_script("fish", subcommands()),
              HasSubstr("-l allocator -x -a 'mlx mlx-policy weir'"));
}

TEST(Completion, OffersVerbsAfterTheProcess) {
  EXPECT_EQ(offered("weir ctl 26219 re", 3), "return reset-peak\n");
  EXPECT_EQ(offered("weir ctl python3 set --mem", 4), "--memory-limit\n");
  EXPECT_THAT(*completion_script("zsh", subcommands()),
              HasSubstr("'1:PROCESS: ' '2:VERB:(set trim return reset-peak sample)'"));
  EXPECT_THAT(*completion_script("fish", subcommands()),
              HasSubstr("__fish_seen_subcommand_from ctl' -a 'set trim return reset-peak sample'"));
}

TEST(Completion, IsCleanForBashItself) {
  output_of("bash -n " + script_file("bash"));
}

TEST(Completion, ParsesInTheOtherShellsWhereTheyAreInstalled) {
  if (std::system("command -v zsh >/dev/null 2>&1") == 0) output_of("zsh -n " + script_file("zsh"));
  if (std::system("command -v fish >/dev/null 2>&1") == 0) output_of("fish -n " + script_file("fish"));
}

TEST(Completion, NamesEveryFlagInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const auto script = completion_script(shell, subcommands());
    ASSERT_TRUE(script);
    for (const Subcommand& subcommand : subcommands()) {
      if (subcommand.hidden) continue;
      EXPECT_THAT(*script, HasSubstr(subcommand.name)) << shell;
      for (const Flag& flag : subcommand.flags) {
        const auto long_name = flag.name.substr(flag.name.find("--") + 2);
        EXPECT_THAT(*script, HasSubstr(long_name)) << shell << " " << subcommand.name;
      }
    }
  }
}

TEST(Completion, KeepsHiddenSubcommandsHiddenAndQuotesTexts) {
  Subcommand odd;
  odd.name = "odd";
  odd.summary = "it's [a: b]";
  Subcommand hidden;
  hidden.name = "secret";
  hidden.hidden = true;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    EXPECT_THAT(*completion_script(shell, {odd, hidden}), ::testing::Not(HasSubstr("secret")));
  }
  EXPECT_THAT(*completion_script("zsh", {odd}), HasSubstr(R"(it'\''s \[a\: b\])"));
  EXPECT_THAT(*completion_script("fish", {odd}), HasSubstr(R"(it\'s [a: b])"));
}

TEST(Completion, RefusesAnUnknownShell) {
  const auto script = completion_script("tcsh", {});
  ASSERT_FALSE(script);
  EXPECT_THAT(script.error().message, HasSubstr("bash, zsh or fish"));
}

}  // namespace
}  // namespace weir::cli
