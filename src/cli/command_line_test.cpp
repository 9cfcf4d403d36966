#include "cli/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::cli {
namespace {

using ::testing::HasSubstr;

/// A table with one flag of every kind, and a subcommand that takes a command.
class CommandLineTest : public ::testing::Test {
 protected:
  CommandLineTest() {
    Subcommand limits;
    limits.name = "limits";
    limits.summary = "Every knob";
    limits.example = "  weir limits smollm2";
    limits.positionals = {{"MODEL", "a model", &model_, false, {}}};
    limits.flags = {{"--cache-limit", "SIZE", "a size", &size_},
                    {"-n,--tokens", "N", "how many", &tokens_},
                    {"--temperature", "T", "how warm", &temperature_},
                    {"--stop", "TEXT", "where to stop", &stops_},
                    {"--way", "WAY", "which", &way_, {"fast", "slow", "straight"}},
                    {"--json", "", "Print JSON", &json_}};
    Subcommand price;
    price.name = "price";
    price.summary = "The main job";
    price.takes_command = true;
    Subcommand worker;
    worker.name = "worker";
    worker.summary = "Inside";
    worker.hidden = true;
    table_ = {limits, price, worker};
  }

  Result<CommandLine> parse(const std::vector<std::string>& words) {
    return parse_command_line(words, table_);
  }
  Error error(const std::vector<std::string>& words) {
    const auto line = parse(words);
    EXPECT_FALSE(line);
    return line ? Error{ErrorKind::kInternal, "", ""} : line.error();
  }

  std::optional<std::string> model_;
  std::optional<std::string> size_;
  std::optional<std::string> way_;
  std::optional<std::int64_t> tokens_;
  std::optional<double> temperature_;
  std::vector<std::string> stops_;
  bool json_ = false;
  std::vector<Subcommand> table_;
};

TEST_F(CommandLineTest, FillsEveryKindOfFlag) {
  const auto line = parse({"limits", "m.gguf", "--cache-limit", "64 MiB", "-n", "24", "--temperature=0.5",
                           "--stop", "a", "--stop", "b", "--json", "--quiet"});
  ASSERT_TRUE(line) << describe(line.error());
  EXPECT_EQ(line->subcommand->name, "limits");
  EXPECT_TRUE(line->invocation.quiet);
  EXPECT_EQ(model_, "m.gguf");
  EXPECT_EQ(size_, "64 MiB");
  EXPECT_EQ(tokens_, 24);
  EXPECT_EQ(temperature_, 0.5);
  EXPECT_THAT(stops_, ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(json_);
  EXPECT_FALSE(line->invocation.command);
}

TEST_F(CommandLineTest, HandsOnEmptyAndDashedValuesInsteadOfLosingThem) {
  ASSERT_TRUE(parse({"limits", "--cache-limit", ""}));
  EXPECT_EQ(size_, "");
  size_.reset();
  ASSERT_TRUE(parse({"limits", "--cache-limit=", "--json"}));
  EXPECT_EQ(size_, "");
  EXPECT_TRUE(json_);
  ASSERT_TRUE(parse({"limits", "--cache-limit", "-1"}));
  EXPECT_EQ(size_, "-1");
}

TEST_F(CommandLineTest, GivesTheWordsAfterTheFirstDashesToTheCommand) {
  const auto line = parse({"price", "--", "python", "--quiet", "--", "x"});
  ASSERT_TRUE(line) << describe(line.error());
  EXPECT_FALSE(line->invocation.quiet);
  EXPECT_THAT(*line->invocation.command, ::testing::ElementsAre("python", "--quiet", "--", "x"));
  EXPECT_THAT(error({"limits", "--", "x"}).message, HasSubstr("takes no command"));
  EXPECT_THAT(error({"limits", "--"}).message, HasSubstr("takes no command"));
}

TEST_F(CommandLineTest, SuggestsTheNearestNameForAnUnknownOne) {
  EXPECT_THAT(error({"pirce"}).message, HasSubstr("did you mean price?"));
  EXPECT_THAT(error({"worke"}).message, ::testing::Not(HasSubstr("worker"))) << "hidden names stay hidden";
  EXPECT_THAT(error({"limits", "--cache-limt", "1"}).message, HasSubstr("did you mean --cache-limit?"));
  EXPECT_EQ(error({"xyzzy"}).kind, ErrorKind::kUsage);
}

TEST_F(CommandLineTest, RefusesWhatIsTooMuchOrTooLittle) {
  EXPECT_THAT(error({}).message, HasSubstr("no subcommand"));
  EXPECT_THAT(error({"limits", "a", "b"}).message, HasSubstr("one word too many: \"b\""));
  EXPECT_THAT(error({"limits", "price", "limits"}).message, HasSubstr("one word too many"));
  EXPECT_EQ(error({"limits", "--cache-limit"}).kind, ErrorKind::kUsage);
  EXPECT_EQ(error({"limits", "--cache-limit", "1", "--cache-limit", "2"}).kind, ErrorKind::kUsage);
  EXPECT_EQ(error({"--json"}).kind, ErrorKind::kUsage);
}

TEST_F(CommandLineTest, ReadsNumbersStrictly) {
  for (const char* bad : {"", "0x10", "1.5", "12a", " 1", "99999999999999999999", "1e3"}) {
    EXPECT_THAT(error({"limits", "-n", bad}).message, HasSubstr("not a whole number")) << bad;
  }
  for (const char* bad : {"", "0,5", "warm", "1.5x"}) {
    EXPECT_THAT(error({"limits", "--temperature", bad}).message, HasSubstr("not a number")) << bad;
  }
}

TEST_F(CommandLineTest, TakesOnlyTheValuesThatAFlagHas) {
  ASSERT_TRUE(parse({"limits", "--way=slow"}));
  EXPECT_EQ(way_, "slow");
  const Error refused = error({"limits", "--way", "slwo"});
  EXPECT_EQ(refused.kind, ErrorKind::kUsage);
  EXPECT_EQ(refused.where, "--way");
  EXPECT_EQ(refused.message, "unknown value \"slwo\"; did you mean slow? write fast, slow or straight");
  EXPECT_THAT(error({"limits", "--way", ""}).message, HasSubstr("unknown value \"\"; write fast"));
}

TEST_F(CommandLineTest, SaysWhereACommandStands) {
  EXPECT_THAT(error({"price", "python", "-c", "x"}).message,
              HasSubstr("one word too many: \"python\"; a command stands after --"));
}

TEST_F(CommandLineTest, PrintsHelpAndVersion) {
  const auto help = parse({"--help"});
  ASSERT_TRUE(help);
  EXPECT_EQ(help->subcommand, nullptr);
  EXPECT_THAT(help->text, HasSubstr("limits"));
  EXPECT_THAT(help->text, ::testing::Not(HasSubstr("worker")));
  const auto limits = parse({"limits", "--help"});
  ASSERT_TRUE(limits);
  EXPECT_THAT(limits->text, HasSubstr("--cache-limit SIZE"));
  EXPECT_THAT(limits->text, HasSubstr("Usage: weir limits"));
  EXPECT_THAT(limits->text, HasSubstr("weir limits smollm2"));
  EXPECT_THAT(parse({"--version"})->text, ::testing::StartsWith("weir "));
}

}  // namespace
}  // namespace weir::cli
