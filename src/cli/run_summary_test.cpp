#include "cli/run_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace weir::cli {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

constexpr pid_t kChild = 100;

RunSummary finished() {
  RunSummary run;
  run.command = "python3";
  run.child = kChild;
  return run;
}

GovernedProgram program(pid_t pid, wire::PageState state = wire::PageState::kExited) {
  GovernedProgram program;
  program.page.pid = pid;
  program.page.state = state;
  program.was_off = state == wire::PageState::kOff;
  program.page.allocator = wire::Allocator::kWeir;
  program.page.command = "python3.11";
  program.page.library = "/venv/libmlx.so";
  program.page.cache_limit = 67'108'864;
  program.page.live_peak = 808'000'000;
  program.page.retained_peak = 62'100'000;
  program.page.allocations = 1'234'567;
  program.page.hits = 999;
  program.page.misses = 1;
  return program;
}

Sighting sighting(bool agent, bool core = false) {
  return {"python3.11", {true, agent, core}};
}

TEST(MappedLibraries, AreRecognisedByTheirFileNames) {
  const auto found = mapped_libraries(
      "7f00-7f01 r-xp 00000000 08:01 12 /venv/site-packages/mlx/lib/libmlx.so\n"
      "7f02-7f03 r--p 00000000 08:01 13 /opt/weir/lib/libweir_agent.so (deleted)\n"
      "7f04-7f05 rw-p 00000000 00:00 0\n");
  EXPECT_TRUE(found.mlx);
  EXPECT_TRUE(found.agent);
  EXPECT_FALSE(found.core);
  EXPECT_TRUE(mapped_libraries("x /a/libweir_core.so").core);
  EXPECT_FALSE(mapped_libraries("x /a/libmlx.so.d/other.so\ny /notlibmlx.so\n\n").mlx);
}

TEST(RunVerdict, IsGovernedWhereAPageSaysSo) {
  RunSummary run = finished();
  run.programs = {program(kChild)};
  run.sightings[kChild] = sighting(true, true);
  EXPECT_EQ(verdict_of(run).governed, true);
  EXPECT_EQ(verdict_of(run).reason, "");
  EXPECT_THAT(ungoverned_of(run), SizeIs(0));
}

TEST(RunVerdict, SaysWhyNothingWasGovernedAndWhetherThatIsAFailure) {
  RunSummary run = finished();
  EXPECT_EQ(verdict_of(run).governed, false);
  EXPECT_EQ(verdict_of(run).reason, "no MLX was loaded");
  EXPECT_FALSE(verdict_of(run).demands_69);

  run.sightings[kChild] = sighting(true);
  EXPECT_THAT(verdict_of(run).reason, HasSubstr("MLX was loaded and never used"));
  EXPECT_FALSE(verdict_of(run).demands_69);

  run.sightings[kChild] = sighting(false);
  EXPECT_THAT(verdict_of(run).reason, HasSubstr("a wrapper took LD_PRELOAD"));
  EXPECT_TRUE(verdict_of(run).demands_69);

  run.programs = {program(kChild, wire::PageState::kOff)};
  EXPECT_THAT(verdict_of(run).reason, HasSubstr("switched itself off"));
  EXPECT_TRUE(verdict_of(run).demands_69);
}

TEST(RunVerdict, IsUnknownWhereAGovernedProcessHasNoPage) {
  RunSummary run = finished();
  run.sightings[kChild] = sighting(true, true);
  EXPECT_EQ(verdict_of(run).governed, std::nullopt);
  EXPECT_FALSE(verdict_of(run).demands_69);
  EXPECT_THAT(ungoverned_of(run), SizeIs(0));
  EXPECT_TRUE(to_json(run)["refusals"].is_null());
  EXPECT_TRUE(to_json(run)["events"]["frees"].is_null());
  constexpr const char* kLine = "python3.11 (pid 100) ran MLX governed, but its counters could not be seen";
  EXPECT_THAT(summary_lines(run), ::testing::ElementsAre(kLine));
  run.programs = {program(kChild + 1)};
  EXPECT_EQ(verdict_of(run).governed, true);
  EXPECT_THAT(summary_lines(run), Contains(kLine));
}

TEST(RunVerdict, KnowsAPageFromAnotherPidNamespace) {
  RunSummary run = finished();
  run.sightings[kChild] = sighting(true, true);
  run.sightings[kChild].own_pid = 1;
  run.programs = {program(1)};
  EXPECT_EQ(verdict_of(run).governed, true);
  EXPECT_THAT(unseen_of(run), SizeIs(0));
  EXPECT_EQ(innermost_pid("Name:\tx\nNSpid:\t4711\t1\nNSsid:\t2\n"), 1);
  EXPECT_EQ(innermost_pid("Name:\tx\nNSpid:\t4711\n"), 4711);
  EXPECT_EQ(innermost_pid("Name:\tx\nNSpid:\t\n"), 0);
  EXPECT_EQ(innermost_pid("Name:\tx\n"), 0);
}

TEST(RunVerdict, LeavesAloneWhatItWasToldTo) {
  RunSummary run = finished();
  run.settings.children = false;
  run.sightings[kChild + 1] = sighting(false);
  EXPECT_THAT(verdict_of(run).reason, HasSubstr("--children no"));
  EXPECT_FALSE(verdict_of(run).demands_69);
  EXPECT_THAT(ungoverned_of(run), SizeIs(0));
}

TEST(RunVerdict, IsUnknownWithoutPagesAndTheObstacleWhereThereIsOne) {
  RunSummary run = finished();
  run.has_pages = false;
  EXPECT_EQ(verdict_of(run).governed, std::nullopt);
  EXPECT_TRUE(to_json(run)["governed"].is_null());
  EXPECT_TRUE(to_json(run)["refusals"].is_null());
  run.obstacle = "[/bin/x] is linked statically";
  EXPECT_EQ(verdict_of(run).governed, false);
  EXPECT_EQ(verdict_of(run).reason, run.obstacle);
  run.programs = {program(kChild + 1)};
  EXPECT_EQ(verdict_of(run).governed, true) << "what a static program starts may be governed";
}

TEST(RunSummaryJson, HoldsTheContractsKeys) {
  RunSummary run = finished();
  run.programs = {program(kChild), program(kChild + 1)};
  run.programs[1].page.allocator = wire::Allocator::kMlx;
  run.programs[1].page.refusals = 3;
  run.programs[1].page.cache_limit = wire::kNoLimit;
  run.layers_peak = ledger::Layers{};
  run.layers_peak->footprint = 5;
  run.origin = ExitOrigin::kSignal;
  run.child_code = run.exit_code = 143;
  const nlohmann::json json = to_json(run);
  EXPECT_EQ(json["governed"], true);
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["exit_origin"], "signal");
  EXPECT_EQ(json["exit_code"], 143);
  EXPECT_EQ(json["layers_peak"]["footprint"], 5);
  EXPECT_TRUE(json["layers_peak"]["live"].is_null());
  EXPECT_TRUE(json["footprint_peak"].is_null()) << "unknown";
  EXPECT_EQ(json["limits"]["cache_limit"]["mode"], "unset");
  EXPECT_EQ(json["refusals"], 3);
  EXPECT_EQ(json["events"]["allocations"], 2 * 1'234'567);
  for (const char* key : {"frees", "hits", "misses", "host_clears", "host_limits", "overdraws",
                          "returned_bytes", "moved_bytes", "troubles", "forks", "acts"})
    EXPECT_TRUE(json["events"].contains(key)) << key;
  EXPECT_EQ(json["processes"][0]["cache_limit_bytes"], 67'108'864);
  EXPECT_EQ(json["processes"][0]["backed_peak_bytes"], 0);
  EXPECT_TRUE(json["processes"][1]["backed_peak_bytes"].is_null()) << "mlx has no pool";
  EXPECT_TRUE(json["processes"][1]["cache_limit_bytes"].is_null()) << "unlimited";
}

TEST(RunSummaryJson, HoldsWhatWeirDidAtBoundaries) {
  RunSummary run = finished();
  run.settings.trim_at = wire::kTrimAtPressure;
  run.settings.idle_ms = 30'000;
  run.programs = {program(kChild), program(kChild + 1)};
  run.programs[0].page.acts_done = 2;
  run.programs[0].page.acts = {
      {1'000'000'000, wire::ActKind::kReturn, wire::ActCause::kIdle, 0, 500, 900, 400, 450, 0},
      {2'000'000'000, wire::ActKind::kTrimAged, wire::ActCause::kPressure, 1'000, 7, 0, 0, 0, 0}};
  run.programs[1].page.acts_done = 1;
  const nlohmann::json json = to_json(run);
  EXPECT_EQ(json["trim_at"], "idle=30,pressure");
  EXPECT_EQ(json["events"]["acts"], 3);
  const nlohmann::json& act = json["processes"][0]["acts"][0];
  EXPECT_EQ(act["kind"], "return");
  EXPECT_EQ(act["cause"], "idle");
  EXPECT_EQ(act["released_bytes"], 500);
  EXPECT_EQ(act["footprint_before_bytes"], 900);
  EXPECT_EQ(act["footprint_after_bytes"], 400);
  EXPECT_EQ(act["retained_before_bytes"], 450);
  EXPECT_EQ(act["retained_after_bytes"], 0);
  EXPECT_THAT(json["processes"][1]["acts"], SizeIs(0));
  EXPECT_THAT(summary_lines(run), Contains("  weir gave back 507 B (idle 1, pressure 1)"));
}

TEST(RunSummaryJson, TellsOfARunThatNeverStarted) {
  RunSummary run;
  run.obstacle = "[x] is linked statically";
  run.exit_code = 69;
  run.origin = ExitOrigin::kWeir;
  const nlohmann::json json = to_json(run);
  EXPECT_EQ(json["governed"], false);
  EXPECT_EQ(json["reason"], run.obstacle);
  EXPECT_EQ(json["exit_origin"], "weir");
  EXPECT_TRUE(json["child_exit_code"].is_null());
}

TEST(RunSummaryLines, FitATerminalAndNameEveryProcess) {
  RunSummary run = finished();
  run.programs = {program(kChild)};
  run.programs[0].page.refusals = 1;
  run.programs[0].page.overdraws = 2;
  run.programs[0].page.overdraw_peak = 4096;
  run.programs[0].page.host_clears = 14;
  run.programs[0].page.backed_peak = 1'230'000'000'000;
  run.programs[0].page.memory_limit = 1'099'511'627'776;
  run.peaks = {{kChild, 0, {}, 0, {111'000'000'000, 83'200'000'000, "x"}}};
  const auto lines = summary_lines(run);
  EXPECT_EQ(lines[0], "python3.11 (pid 100): governed by weir");
  EXPECT_THAT(lines, Contains("  footprint peak 83.2 GB to 111 GB"));
  EXPECT_THAT(lines, Contains(HasSubstr("live 808 MB · retained 62.1 MB")));
  EXPECT_THAT(lines, Contains(HasSubstr("cache 67,108,864 bytes")));
  EXPECT_THAT(lines, Contains(HasSubstr("1,234,567 allocations, 99.9 % reused")));
  EXPECT_THAT(lines, Contains(HasSubstr("1 refusal · 2 overdraws (at most 4.10 kB) · 14 clears by")));
  for (const std::string& line : lines)
    EXPECT_LE(line.size(), 80u - std::string("weir: ").size()) << line;
}

TEST(RunSummaryLines, NameAFewOfMany) {
  RunSummary run = finished();
  for (int i = 0; i < 32; ++i)
    run.programs.push_back(program(kChild + i));
  EXPECT_THAT(summary_lines(run), Contains("… and 12 more (--summary FILE has all)"));
}

TEST(RunSummaryLines, WarnOfAProcessThatNobodyGovernedBesideOthers) {
  RunSummary run = finished();
  run.programs = {program(kChild)};
  run.sightings[kChild + 1] = sighting(false);
  EXPECT_THAT(summary_lines(run), Contains("warning: python3.11 (pid 101) ran MLX ungoverned"));
  EXPECT_EQ(verdict_of(run).governed, true);
}

TEST(RunSummaryLines, SayWhoseTheExitCodeIs) {
  RunSummary run = finished();
  run.exit_code = 69;
  run.origin = ExitOrigin::kWeir;
  EXPECT_THAT(summary_lines(run), Contains("exit code 69 is weir's own; python3 ended with 0"));
  run.child_code = run.exit_code = 139;
  run.origin = ExitOrigin::kSignal;
  EXPECT_THAT(summary_lines(run), Contains("python3 was ended by signal 11: exit code 139"));
  run.origin = ExitOrigin::kChild;
  EXPECT_THAT(summary_lines(run), Each(Not(HasSubstr("exit code"))));
}

}  // namespace
}  // namespace weir::cli
