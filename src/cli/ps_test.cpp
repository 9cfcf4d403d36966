#include "cli/ps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/governed_json.h"
#include "cli/top_fixture.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string table(int width, bool unicode = true) {
  report::Style style;
  style.width = width;
  style.unicode = unicode;
  return ps_table(made_up_processes(), made_up_machine(), style);
}

TEST(Ps, ShowsTheMachineEachProcessAndASumForARunOfSeveral) {
  expect_screen("ps.txt", table(0));
  expect_screen("ps_80.txt", table(80));
}

TEST(Ps, NamesTheColumnsThatDidNotFit) {
  EXPECT_THAT(table(80), HasSubstr("no room for: "));
  EXPECT_THAT(table(0), Not(HasSubstr("no room for: ")));
}

TEST(Ps, SaysHowToBeginWhereNothingIsGoverned) {
  EXPECT_EQ(ps_table({}, std::nullopt, {}),
            "no governed process lives; start one with: weir run -- COMMAND\n");
}

TEST(Ps, SumsNoProcessesOfNoRun) {
  auto processes = made_up_processes();
  for (auto& process : processes)
    process.page.run = 0;
  EXPECT_THAT(ps_table(processes, std::nullopt, {}), Not(HasSubstr("sum of run")));
}

TEST(PsJson, HasTheKeysOfTheContract) {
  const nlohmann::json row = to_json(made_up_processes()[0]);
  for (const char* key : {"pid", "command", "backend", "allocator", "limits", "layers", "hit_rate", "since"})
    EXPECT_TRUE(row.contains(key)) << key;
  EXPECT_EQ(row["pid"], 26219);
  EXPECT_EQ(row["command"], "python3.11");
  EXPECT_EQ(row["backend"], "cpu");
  EXPECT_EQ(row["allocator"], "mlx-policy");
  EXPECT_EQ(row["limits"]["cache_limit"]["effective_bytes"], 900'000'000);
  EXPECT_EQ(row["limits"]["memory_limit"]["mode"], "bytes");
  EXPECT_EQ(row["layers"]["live"], 1'150'000'000);
  EXPECT_DOUBLE_EQ(row["hit_rate"], 1'190'000.0 / 1'234'567.0);
  EXPECT_EQ(row["since"], 754.0);
  EXPECT_EQ(row["run"], 26217);
  EXPECT_EQ(row["cgroup"], "systemd llm.service");
  EXPECT_EQ(row["acts"][0]["cause"], "idle");
  EXPECT_EQ(row["size_classes"][2]["up_to_bytes"], 67'108'864);
}

TEST(PsJson, IsNullWhereNothingIsKnown) {
  const nlohmann::json off = to_json(made_up_processes()[3]);
  EXPECT_EQ(off["state"], "off");
  EXPECT_TRUE(off["run"].is_null());
  EXPECT_TRUE(off["hit_rate"].is_null());
  EXPECT_TRUE(off["limits"]["cache_limit"]["mode"].is_null());
  EXPECT_TRUE(off["layers"]["live"].is_null());
  EXPECT_TRUE(off["refusals"].is_null());
  EXPECT_TRUE(off["phase"].is_null());
  EXPECT_TRUE(off["tokens"].is_null());
  EXPECT_TRUE(off["command_line"].is_null());
  EXPECT_TRUE(off["cgroup"].is_null());
  EXPECT_TRUE(off["events"]["allocations"].is_null());
  const nlohmann::json of_mlx = to_json(made_up_processes()[1]);
  EXPECT_TRUE(of_mlx["backed_bytes"].is_null()) << "it has no pool";
  EXPECT_TRUE(of_mlx["peaks"]["overdraw"].is_null());
  const nlohmann::json runner = to_json(made_up_processes()[2]);
  EXPECT_EQ(runner["phase"], "decode");
  EXPECT_EQ(runner["tokens"], 1'208);
  EXPECT_EQ(runner["limits"]["cache_limit"]["mode"], "unlimited");
  EXPECT_TRUE(runner["limits"]["cache_limit"]["bytes"].is_null());
  EXPECT_TRUE(runner["size_classes"][0]["retained_bytes"].is_null()) << "weir keeps nothing by size";
}

TEST(PsJson, HasNoHitRateBeforeTheFirstAllocation) {
  ledger::GovernedProcess process = made_up_process(9, "young", 0, 0);
  process.page.hits = process.page.misses = 0;
  EXPECT_TRUE(to_json(process)["hit_rate"].is_null());
}

}  // namespace
}  // namespace weir::cli
