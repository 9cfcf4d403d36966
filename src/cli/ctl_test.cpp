#include "cli/ctl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/ctl_report.h"
#include "cli/ctl_request.h"

namespace weir::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kMB = 1'000'000;
constexpr std::int64_t kFree = 1000 * kMB;

ledger::PageReading page(wire::Allocator allocator = wire::Allocator::kWeir) {
  ledger::PageReading page;
  page.pid = 26219;
  page.command = "python3.11";
  page.allocator = allocator;
  return page;
}

CtlOptions words(const char* verb) {
  CtlOptions options;
  options.process = "26219";
  options.verb = verb;
  return options;
}

Result<CtlRequest> request_of(const CtlOptions& options, wire::Allocator allocator = wire::Allocator::kWeir) {
  limits::Denominators denominators;
  denominators.free = [] { return Result<std::int64_t>(kFree); };
  denominators.total = [] { return Result<std::int64_t>(4 * kFree); };
  const auto verb = ctl_verb(options);
  if (!verb) return tl::unexpected(verb.error());
  return ctl_request(options, *verb, page(allocator), denominators);
}

Error refusal(const CtlOptions& options, wire::Allocator allocator = wire::Allocator::kWeir) {
  const auto request = request_of(options, allocator);
  EXPECT_FALSE(request);
  return request ? Error{ErrorKind::kInternal, "", ""} : request.error();
}

TEST(CtlRequest, KnowsItsVerbs) {
  EXPECT_THAT(ctl_verbs(), ElementsAre("set", "trim", "return", "reset-peak", "sample"));
  for (const std::string& verb : ctl_verbs()) {
    CtlOptions options = words(verb.c_str());
    if (verb == "set") options.limits.cache_limit = "0";
    EXPECT_TRUE(request_of(options)) << verb;
  }
}

TEST(CtlRequest, RefusesAnotherVerbAndNamesTheNearest) {
  EXPECT_EQ(refusal(words("retrurn")).kind, ErrorKind::kUsage);
  EXPECT_THAT(refusal(words("retrurn")).message, HasSubstr("did you mean return?"));
  EXPECT_EQ(refusal(words("need")).kind, ErrorKind::kUsage) << "that one is between processes";
}

TEST(CtlRequest, SaysWhichWordStandsFirst) {
  CtlOptions swapped = words("26219");
  swapped.process = "return";
  EXPECT_THAT(refusal(swapped).message, HasSubstr("weir ctl \"26219\" return"));
}

TEST(CtlRequest, WantsLimitsWithSetAndOnlyThere) {
  EXPECT_THAT(refusal(words("set")).message, HasSubstr("set needs a limit"));
  CtlOptions trim = words("trim");
  trim.limits.memory_limit = "8GiB";
  EXPECT_EQ(refusal(trim).where, "--memory-limit");
  EXPECT_THAT(refusal(trim).message, HasSubstr("goes with the verb set"));
}

TEST(CtlRequest, UnderstandsSizesAsEveryKnobDoes) {
  CtlOptions options = words("set");
  options.limits.cache_limit = "64MiB";
  options.limits.memory_limit = "10%free";
  const auto request = request_of(options);
  ASSERT_TRUE(request) << describe(request.error());
  EXPECT_EQ(request->request.flags, wire::kSetsCacheLimit | wire::kSetsMemoryLimit);
  EXPECT_EQ(request->request.cache_limit, 67'108'864u);
  EXPECT_EQ(request->request.memory_limit, 100u * kMB);
  EXPECT_THAT(request->echo, ElementsAre("cache limit 64MiB = 67,108,864 bytes (--cache-limit)",
                                         "memory limit 10%free = 100,000,000 bytes (--memory-limit; free is "
                                         "1,000,000,000 bytes)"));
}

TEST(CtlRequest, TellsUnsetFromUnlimited) {
  CtlOptions options = words("set");
  options.limits.cache_limit = "unset";
  EXPECT_EQ(request_of(options)->request.flags, wire::kUnsetsCacheLimit);
  options.limits.cache_limit = "unlimited";
  options.limits.memory_limit = "unset";
  const auto request = request_of(options);
  EXPECT_EQ(request->request.flags, wire::kSetsCacheLimit | wire::kSetsMemoryLimit);
  EXPECT_EQ(request->request.cache_limit, wire::kNoLimit);
  EXPECT_EQ(request->request.memory_limit, wire::kNoLimit);
}

TEST(CtlRequest, RefusesWhatItCannotHonour) {
  CtlOptions options = words("set");
  options.limits.cache_limit = "auto";
  EXPECT_EQ(refusal(options).kind, ErrorKind::kUsage);
  EXPECT_THAT(refusal(options).message, HasSubstr("auto needs the model"));
  options.limits.cache_limit = "25%model";
  EXPECT_EQ(refusal(options).kind, ErrorKind::kUsage);
  options.limits.cache_limit = "8G B";
  EXPECT_THAT(refusal(options).message, HasSubstr("not a size"));
  options.limits.cache_limit = "0";
  EXPECT_TRUE(request_of(options)) << "keep nothing";
  options.limits.memory_limit = "0";
  EXPECT_EQ(refusal(options).where, "--memory-limit");
}

TEST(CtlRequest, TakesNoMemoryLimitWhereMlxsOwnAllocatorKeepsNone) {
  CtlOptions options = words("set");
  options.limits.memory_limit = "8GiB";
  EXPECT_EQ(refusal(options, wire::Allocator::kMlx).kind, ErrorKind::kUsage);
  EXPECT_THAT(refusal(options, wire::Allocator::kMlx).message, HasSubstr("python3.11 (pid 26219)"));
  EXPECT_TRUE(request_of(options, wire::Allocator::kMlxPolicy));
}

TEST(CtlRequest, BoundsItsPatience) {
  CtlOptions options = words("trim");
  EXPECT_EQ(ctl_patience(options)->patience.count(), 5'000);
  options.timeout = 0.25;
  EXPECT_EQ(ctl_patience(options)->patience.count(), 250);
  EXPECT_EQ(ctl_patience(options)->settle.count(), 250);
  for (const double seconds : {0.0, -1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    options.timeout = seconds;
    ASSERT_FALSE(ctl_patience(options)) << seconds;
    EXPECT_EQ(ctl_patience(options).error().kind, ErrorKind::kUsage);
  }
}

/// A return of 312 MB, 280 by the pool and 32 by the heap.
CtlOutcome returned() {
  CtlOutcome outcome;
  outcome.page = page();
  outcome.request.verb = static_cast<std::uint16_t>(wire::Verb::kReturn);
  ledger::ControlledChange& change = outcome.change;
  change.before.footprint = 812 * kMB;
  change.before.live = 440 * kMB;
  change.before.retained = 280 * kMB;
  change.before.untouched = 0;
  change.before.heap_idle = 32 * kMB;
  change.before.identified = 58 * kMB;
  change.before.unexplained = 2 * kMB;
  change.before.tags = {{"other", 440 * kMB}};
  change.before.identified_parts = {{"thread stacks", 8 * kMB}, {"heap in use", 50 * kMB}};
  change.after = change.before;
  change.after.footprint = 500 * kMB;
  change.after.retained = 0;
  change.after.heap_idle = 0;
  change.after.unexplained = 2 * kMB;
  change.answer.status = wire::ControlStatus::kDone;
  change.answer.released = 280 * kMB;
  change.answer.heap_released = 32 * kMB;
  change.settled = true;
  change.seconds = 0.104;
  return outcome;
}

TEST(CtlSentence, SaysWhatWasReturnedByWhom) {
  EXPECT_EQ(
      ctl_sentence(returned()),
      "returned 312 MB to the kernel (pool 280 MB, C heap 32.0 MB); footprint 812 → 500 MB, settled after "
      "0.1 s");
}

TEST(CtlSentence, NeverReturnsANegativeAmount) {
  CtlOutcome outcome = returned();
  outcome.change.answer.released = outcome.change.answer.heap_released = 0;
  outcome.change.after.footprint = 1'880 * kMB;
  outcome.change.settled = false;
  outcome.change.seconds = 2.01;
  EXPECT_EQ(ctl_sentence(outcome),
            "nothing to return; footprint 812 MB → 1.88 GB, not settled after 2.0 s: the process is at work");
}

TEST(CtlSentence, ShowsWhatTheDriverKeeps) {
  CtlOutcome outcome = returned();
  outcome.change.answer.driver_released = 90 * kMB;
  outcome.change.answer.driver_kept = 6 * kMB;
  EXPECT_THAT(ctl_sentence(outcome),
              HasSubstr(", 90.0 MB to the driver, the driver keeps 6.00 MB; footprint"));
}

TEST(CtlSentence, SaysThatAPendingVerbWaitsAndForWhat) {
  CtlOutcome outcome = returned();
  outcome.change.pending = true;
  outcome.change.answer.status = wire::ControlStatus::kPending;
  outcome.change.answer.released = outcome.change.answer.heap_released = 0;
  outcome.change.answer.text = "done at the program's next allocation";
  outcome.change.after.footprint = outcome.change.before.footprint;
  EXPECT_EQ(
      ctl_sentence(outcome),
      "return is pending: done at the program's next allocation; footprint 812 MB, settled after 0.1 s");
  EXPECT_TRUE(ctl_judged(outcome));
}

TEST(CtlSentence, SaysWhichLimitIsInForce) {
  CtlOutcome outcome = returned();
  outcome.request.verb = static_cast<std::uint16_t>(wire::Verb::kSet);
  outcome.request.flags = wire::kSetsCacheLimit | wire::kSetsMemoryLimit;
  outcome.change.answer.cache_limit = 67'108'864;
  outcome.change.answer.heap_released = 0;
  EXPECT_THAT(
      ctl_sentence(outcome),
      HasSubstr("cache limit unlimited → 67,108,864 bytes, memory limit unlimited as before; returned "
                "280 MB to the kernel; footprint"));
}

TEST(CtlSentence, SaysWhetherASampledProcessIsAtRest) {
  CtlOutcome outcome = returned();
  outcome.request.verb = static_cast<std::uint16_t>(wire::Verb::kSample);
  EXPECT_EQ(ctl_sentence(outcome), "footprint 500 MB, 0.4 % unexplained; at rest: two readings agree");
  outcome.change.settled = false;
  EXPECT_THAT(ctl_sentence(outcome), HasSubstr("at work"));
}

TEST(CtlText, HasARowForEachLayer) {
  EXPECT_EQ(
      ctl_text(returned(), false, {}),
      "python3.11 (pid 26219) · weir · return\n"
      "\n"
      "  layer            before         after     change\n"
      "  footprint        812 MB   →    500 MB    −312 MB\n"
      "  = live           440 MB   →    440 MB\n"
      "  + retained       280 MB   →       0 B    −280 MB\n"
      "  − untouched         0 B   →       0 B\n"
      "  + heap idle     32.0 MB   →       0 B   −32.0 MB\n"
      "  + identified    58.0 MB   →   58.0 MB\n"
      "  + unexplained   2.00 MB   →   2.00 MB\n"
      "  file                  ?   →         ?\n"
      "  resident              ?   →         ?\n"
      "\n"
      "returned 312 MB to the kernel (pool 280 MB, C heap 32.0 MB); footprint 812 → 500 MB, settled after "
      "0.1 s\n");
}

TEST(CtlText, ShowsPartsOnDemandTheBiggestFirst) {
  const std::string text = ctl_text(returned(), true, {});
  EXPECT_THAT(text, HasSubstr("    heap in use"));
  EXPECT_LT(text.find("heap in use"), text.find("thread stacks"));
  EXPECT_THAT(ctl_text(returned(), false, {}), Not(HasSubstr("thread stacks")));
}

TEST(CtlText, SpellsItsSignsWhereATerminalHasNone) {
  const report::Style ascii{false, false, 80};
  CtlOutcome outcome = returned();
  outcome.page.command = "\x1b[31mred";
  const std::string text = ctl_text(outcome, true, ascii);
  EXPECT_THAT(text, HasSubstr("812 -> 500 MB"));
  for (const char c : text)
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c <= '~')) << static_cast<int>(c);
}

TEST(CtlText, ShowsASampleOnce) {
  CtlOutcome outcome = returned();
  outcome.request.verb = static_cast<std::uint16_t>(wire::Verb::kSample);
  const std::string text = ctl_text(outcome, true, {});
  EXPECT_THAT(text, HasSubstr("layer                 bytes   share\n"));
  EXPECT_THAT(text, HasSubstr("= live               440 MB    88 %\n"));
  EXPECT_THAT(text, Not(HasSubstr("→")));
}

TEST(CtlJson, HasTheKeysOfTheContract) {
  CtlOutcome outcome = returned();
  outcome.change.answer.cache_limit = 67'108'864;
  const nlohmann::json json = to_json(outcome);
  EXPECT_EQ(json["before"]["footprint"], 812 * kMB);
  EXPECT_EQ(json["after"]["footprint"], 500 * kMB);
  EXPECT_EQ(json["settled"], true);
  EXPECT_EQ(json["pending"], false);
  EXPECT_EQ(json["seconds"], 0.104);
  EXPECT_EQ(json["verb"], "return");
  EXPECT_EQ(json["pid"], 26219);
  EXPECT_EQ(json["status"], "done");
  EXPECT_EQ(json["released"], 280 * kMB);
  EXPECT_EQ(json["heap_released"], 32 * kMB);
  EXPECT_EQ(json["limits"]["before"]["cache_limit"], nullptr);
  EXPECT_EQ(json["limits"]["after"]["cache_limit"], 67'108'864);
}

ErrorKind judged(wire::ControlStatus status) {
  CtlOutcome outcome = returned();
  outcome.change.answer.status = status;
  outcome.change.answer.text = "why not";
  const auto result = ctl_judged(outcome);
  EXPECT_FALSE(result);
  return result ? ErrorKind::kInternal : result.error().kind;
}

TEST(CtlJudgement, TurnsEveryAnswerIntoItsExitCode) {
  EXPECT_TRUE(ctl_judged(returned()));
  EXPECT_EQ(judged(wire::ControlStatus::kRefused), ErrorKind::kNoRoom);
  EXPECT_EQ(judged(wire::ControlStatus::kFailed), ErrorKind::kNoRoom);
  EXPECT_EQ(judged(wire::ControlStatus::kBusy), ErrorKind::kNoRoom);
  EXPECT_EQ(judged(wire::ControlStatus::kBadRequest), ErrorKind::kEnvironment);
}

TEST(CtlJudgement, SaysThatACapBelowWhatLivesCannotBeMet) {
  CtlOutcome outcome = returned();
  outcome.request.verb = static_cast<std::uint16_t>(wire::Verb::kSet);
  outcome.request.flags = wire::kSetsMemoryLimit;
  outcome.change.answer.memory_limit = 100 * kMB;
  const auto result = ctl_judged(outcome);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::kNoRoom);
  EXPECT_THAT(result.error().message, HasSubstr("100,000,000 bytes is in force and cannot be met: live is "));
  outcome.change.answer.memory_limit = 500 * kMB;
  EXPECT_TRUE(ctl_judged(outcome));
}

}  // namespace
}  // namespace weir::cli
