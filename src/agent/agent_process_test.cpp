// Programs without Python under the agent: what they print and what their pages say.

#include <unistd.h>
#include <algorithm>

#include <gmock/gmock.h>

#include "agent/governed_run.h"

namespace weir::agent {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string fake(const char* which) {
  return std::string(WEIR_FAKE_MLX) + "/" + which + "/libmlx.so";
}

class AgentProcess : public GovernedRun {};

TEST_F(AgentProcess, LeavesProgramsWithoutMlxAsTheyAre) {
  const std::vector<std::vector<std::string>> programs = {
      {"/bin/true"}, {"/bin/false"}, {"git", "--version"}, {"sh", "-c", "echo out; echo err >&2; exit 7"}};
  for (const auto& argv : programs) {
    const Ran plain = run_child(argv, {}), governed = run(argv);
    EXPECT_EQ(governed.code, plain.code) << argv[0];
    EXPECT_EQ(governed.out, plain.out) << argv[0];
    EXPECT_EQ(governed.err, plain.err) << argv[0];
  }
  EXPECT_THAT(pages(), IsEmpty());
}

TEST_F(AgentProcess, GovernsAProgramThatLinksMlx) {
  const Ran ran = run({WEIR_MLX_HOST, "memory"});
  EXPECT_EQ(ran.out, "0 1\n");
  EXPECT_EQ(ran.err, "");
  ASSERT_THAT(pages(), SizeIs(1));
  const auto page = pages()[0];
  EXPECT_THAT(page.library, HasSubstr("/libmlx.so"));
  EXPECT_EQ(page.run, static_cast<std::uint64_t>(::getpid()));
  EXPECT_GE(page.live_peak, 4000000);
  EXPECT_GT(page.allocations, 0u);
  EXPECT_EQ(page.host_limits, 1u);
}

TEST_F(AgentProcess, StartsOnceUnderThreadsThatCallTogether) {
  const std::vector<std::string> argv = {WEIR_MLX_HOST, "threads", "8"};
  const Ran plain = run_child(argv, {});
  for (int round = 0; round < 5; ++round) {
    const Ran ran = run(argv);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, plain.out);
    EXPECT_EQ(ran.err, "");
  }
  EXPECT_THAT(pages(), SizeIs(5));
  EXPECT_THAT(pages(), Each(Field(&ledger::PageReading::troubles, 0u)))
      << "a second start would meet blocks of the first";
}

TEST_F(AgentProcess, TextThatIsNoneOfRunsCostsOneLine) {
  const std::vector<std::string> argv = {WEIR_MLX_HOST, "memory"};
  const std::vector<std::string> texts = {"", "junk", "v2 allocator=weir cache=-1", std::string(5000, 'x'),
                                          "two\nlines"};
  for (const std::string& text : texts) {
    const Ran ran = run_with_text(argv, text);
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(ran.out, "0 1\n");
    EXPECT_EQ(weir_lines(ran), 1) << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("WEIR_AGENT"));
  }
  EXPECT_EQ(weir_lines(run_with_text(argv, std::nullopt)), 1);
  EXPECT_THAT(pages(), IsEmpty());
}

TEST_F(AgentProcess, WithoutItsCoreCostsOneLine) {
  const auto alone = folder_ / "libweir_agent.so";
  std::filesystem::copy(WEIR_BINARY_DIR "/lib/libweir_agent.so", alone);
  const Ran ran = run_child({WEIR_MLX_HOST, "memory"}, {"LD_PRELOAD=" + alone.string()});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.out, "0 1\n");
  EXPECT_EQ(weir_lines(ran), 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr((folder_ / "libweir_core.so").string()));
}

TEST_F(AgentProcess, GovernsALibraryThatAProgramLoadsPrivately) {
  const Ran ran = run({WEIR_FAKE_HOST, fake("whole"), "run"});
  EXPECT_THAT(ran.out, HasSubstr("shift 0, block 1, active 0,"));
  EXPECT_EQ(ran.err, "");
  ASSERT_THAT(pages(), SizeIs(1));
  EXPECT_EQ(pages()[0].library, fake("whole"));
}

TEST_F(AgentProcess, GovernsALinkedLibraryByWhatItExportsNotByItsName) {
  const Ran ran = run({WEIR_FAKE_LINKED_HOST});
  EXPECT_THAT(ran.out, HasSubstr("asked 0\nshift 0, block 1, active 0,"));
  EXPECT_EQ(ran.err, "");
  ASSERT_THAT(pages(), SizeIs(1));
  EXPECT_THAT(pages()[0].library, HasSubstr("libtensors.so"));
}

TEST_F(AgentProcess, LeavesUnknownLibrariesToThemselvesWithOneLine) {
  const std::vector<std::pair<const char*, const char*>> unknown = {
      {"ten", "set_wired_limit"}, {"newer", "0.33.0"}, {"gpu", "GPU"}};
  for (const auto& [which, word] : unknown) {
    const Ran plain = run_child({WEIR_FAKE_HOST, fake(which), "run"}, {});
    const Ran ran = run({WEIR_FAKE_HOST, fake(which), "run"});
    EXPECT_EQ(plain.out, "shift 8, block 1, active 7001, limit 7005\n");
    EXPECT_EQ(ran.out, plain.out) << which;
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(weir_lines(ran), 1) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(fake(which)));
    EXPECT_THAT(ran.err, HasSubstr(word));
    EXPECT_THAT(ran.err, HasSubstr("expected a CPU build of MLX 0.32.0 to 0.32.4"));
  }
  EXPECT_THAT(pages(),
              AllOf(SizeIs(unknown.size()), Each(Field(&ledger::PageReading::state, wire::PageState::kOff))))
      << "each says that it is off";
}

TEST_F(AgentProcess, KeepsItsCoreOnlyWhereItGoverns) {
  const auto host = [](const char* which) {
    return std::vector<std::string>{WEIR_FAKE_HOST, fake(which), "run", "core", "run", "core"};
  };
  const std::string alone = "shift 8, block 1, active 7001, limit 7005\nno core\n";
  EXPECT_THAT(run(host("whole")).out, HasSubstr("\ncore\n"));
  EXPECT_EQ(run(host("newer")).out, alone + alone);
  EXPECT_EQ(run(host("ten")).out, alone + alone);
  EXPECT_EQ(run_with_text(host("whole"), "junk").out, alone + alone);
  EXPECT_EQ(run_with_text(host("whole"), std::nullopt).out, alone + alone);
}

TEST_F(AgentProcess, ThreadsThatCallTogetherOutliveACoreThatDeclines) {
  for (int round = 0; round < 5; ++round) {
    const Ran ran = run_with_text({WEIR_MLX_HOST, "threads", "8"}, "junk");
    EXPECT_EQ(ran.code, 0);
    EXPECT_EQ(weir_lines(ran), 1) << ran.err;
  }
}

TEST_F(AgentProcess, RefusesALibraryWhoseOwnCallsPassItBy) {
  const std::vector<std::string> argv = {WEIR_FAKE_HOST, fake("inside"), "run"};
  const Ran unasked = run(argv);
  EXPECT_EQ(unasked.out, run_child(argv, {}).out);
  EXPECT_EQ(unasked.err, "");
  const Ran asked = run({WEIR_FAKE_HOST, fake("inside"), "run", "ask"});
  EXPECT_EQ(asked.out, unasked.out + "asked 7001\n");
  EXPECT_EQ(weir_lines(asked), 1) << asked.err;
  EXPECT_THAT(asked.err, HasSubstr(fake("inside")));
  EXPECT_THAT(asked.err, HasSubstr("reaches its own mlx::core::allocator::allocator()"));
  EXPECT_THAT(pages(), ElementsAre(Field(&ledger::PageReading::state, wire::PageState::kOff)));
}

TEST_F(AgentProcess, ACallBeforeAnyLibraryIsAnsweredAndTheLibraryGovernedLater) {
  const Ran ran = run({WEIR_FAKE_HOST, "ask", fake("whole"), "run"});
  EXPECT_THAT(ran.out, HasSubstr("asked 0\nshift 0, block 1, active 0"));
  EXPECT_EQ(weir_lines(ran), 1) << ran.err;
  EXPECT_THAT(pages(), SizeIs(1));
}

TEST_F(AgentProcess, TheLibraryThatAsksFirstRulesWhereSeveralAreLoaded) {
  const Ran later = run({WEIR_FAKE_HOST, fake("whole"), "run", fake("second"), "run"});
  EXPECT_EQ(later.code, 0);
  EXPECT_EQ(later.err, "") << "the second came when the first ruled";
  const Ran ran = run({WEIR_FAKE_HOST, fake("second"), fake("whole"), "run"});
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(weir_lines(ran), 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("two MLX libraries are loaded: " + fake("whole")));
  ASSERT_THAT(pages(), SizeIs(2));
}

/// Prints what a child of the program would inherit.
const std::vector<std::string> kShowEnvironment = {
    "sh", "-c", "printf '%s|%s|%s' \"$LD_PRELOAD\" \"$WEIR_AGENT\" \"$WEIR_AGENT_PAGES\""};

TEST_F(AgentProcess, WithoutChildrenTheRunsOwnProgramIsGovernedAndWhatItStartsIsNot) {
  wire::AgentSettings alone = settings();
  alone.children = false;
  const std::string host = WEIR_MLX_HOST;
  EXPECT_EQ(run({host, "memory"}, alone).out, "0 1\n");
  EXPECT_THAT(pages(), SizeIs(1)) << "the program itself";
  EXPECT_EQ(run({"sh", "-c", "exec " + host + " memory"}, alone).out, "0 1\n");
  EXPECT_THAT(pages(), SizeIs(2)) << "executed in its place";
  EXPECT_EQ(run({"sh", "-c", host + " memory; exit $?"}, alone).out, "0 1\n");
  EXPECT_THAT(pages(), SizeIs(2)) << "its child";
  alone.children = true;
  EXPECT_EQ(run({"sh", "-c", host + " memory; exit $?"}, alone).out, "0 1\n");
  EXPECT_THAT(pages(), SizeIs(3)) << "children are governed unless told otherwise";
}

TEST_F(AgentProcess, WithoutChildrenOtherPreloadsStay) {
  wire::AgentSettings alone = settings();
  alone.children = false;
  alone.run = 1;  // Not ours: this is somebody's grandchild.
  char text[wire::kSettingsTextBytes];
  wire::print_settings(alone, text);
  const std::string own = WEIR_BINARY_DIR "/lib/libweir_agent.so", other = WEIR_PRELOADED;
  const std::vector<std::pair<std::string, std::string>> lists = {
      {own, ""},
      {other + ":" + own, other},
      {own + " " + other, other},
      {other + " " + own + ":" + other, other + ":" + other}};
  for (const auto& [list, kept] : lists) {
    const Ran ran = run_child(kShowEnvironment, {"LD_PRELOAD=" + list, std::string("WEIR_AGENT=") + text,
                                                 "WEIR_AGENT_PAGES=" + folder_.string()});
    EXPECT_EQ(ran.out, kept + "||") << list;
  }
  EXPECT_THAT(run(kShowEnvironment).out, HasSubstr("libweir_agent.so|v2 "));
}

}  // namespace
}  // namespace weir::agent
