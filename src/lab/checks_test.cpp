#include "lab/checks.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::lab {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMiB = 1 << 20;
constexpr int kUnlimited = 0, kLimited = 1;

Plan plan() {
  Plan out;
  out.question.arms = {make_arm(ArmLimit::unlimited()), make_arm(ArmLimit::of(64 * kMiB))};
  out.question.baseline = "unlimited";
  out.sizes.starts = 6;
  out.sizes.blocks_per_start = 2;
  return out;
}

RequestRecord request(const std::string& name) {
  return {name, 100, 8, "length", "0123", 0.5, 0.7};
}

FootprintRecord footprint(int index, int arm) {
  FootprintRecord out;
  out.index = index;
  out.arm = arm;
  if (arm == kLimited) out.in_force_bytes = 64 * kMiB;
  out.retained_peak_bytes = arm == kLimited ? 64 * kMiB : 300 * kMiB;
  out.retained_bytes = out.retained_peak_bytes;
  out.footprint_peak_high_bytes = 500 * kMiB + out.retained_peak_bytes;
  out.page_faults = arm == kLimited ? 20'000 : 10'000;
  out.requests = {request("f0")};
  return out;
}

TurnRecord turn(int arm, bool second, int block) {
  TurnRecord out;
  out.arm = arm;
  out.second = second;
  if (arm == kLimited) out.in_force_bytes = 64 * kMiB;
  out.retained_peak_bytes = arm == kLimited ? 64 * kMiB : 200 * kMiB;
  out.retained_bytes = out.retained_peak_bytes;
  out.warm = {request("warm" + std::to_string(block))};
  out.measured = {request("measured" + std::to_string(block))};
  return out;
}

/// Everything in order: two rounds of footprint starts, six starts of two blocks.
Records records() {
  Records out;
  for (int index = 0; index < 4; ++index)
    out.footprints.push_back(footprint(index, index % 2));
  for (int start = 0; start < 6; ++start)
    for (int block = 0; block < 2; ++block) {
      const int id = start * 2 + block;
      out.blocks.push_back(
          {start,
           block,
           {turn(kUnlimited, false, id), turn(kLimited, false, id), turn(kUnlimited, true, id)},
           3});
    }
  return out;
}

std::vector<std::string> ids(const std::vector<CheckFinding>& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings)
    out.push_back(finding.id);
  return out;
}

std::vector<std::string> found(const Records& of) {
  return ids(run_checks(plan(), of, true));
}

TEST(Checks, PassWhatIsInOrder) {
  EXPECT_THAT(found(records()), IsEmpty());
}

TEST(Checks, WorkThatDiffersInWarmRequestsOnly) {
  Records bad = records();
  bad.blocks[3].turns[1].warm[0].generated_tokens = 7;
  EXPECT_THAT(found(bad), ElementsAre("work"));
}

TEST(Checks, WorkThatDiffersInMeasuredRequestsOnly) {
  Records bad = records();
  bad.blocks[5].turns[1].measured[0].ids_hash = "ffff";
  EXPECT_THAT(found(bad), ElementsAre("work"));
  bad = records();
  bad.blocks[5].turns[1].measured[0].finish_reason = "stop";
  EXPECT_THAT(found(bad), ElementsAre("work"));
}

TEST(Checks, WorkThatDiffersInFootprintStartsOnly) {
  Records bad = records();
  bad.footprints[1].requests[0].prompt_tokens = 99;
  EXPECT_THAT(found(bad), ElementsAre("work"));
}

TEST(Checks, AKnobThatDiesInASpeedTurn) {
  Records bad = records();
  bad.blocks[4].turns[1].in_force_bytes.reset();
  EXPECT_THAT(found(bad), ElementsAre("knob"));
  bad = records();
  bad.blocks[4].turns[1].retained_bytes = 129 * kMiB;  // one buffer above the limit is allowed, more is not
  EXPECT_THAT(found(bad), ElementsAre("knob"));
  bad.blocks[4].turns[1].retained_bytes = 127 * kMiB;
  EXPECT_THAT(found(bad), IsEmpty());
}

TEST(Checks, ABaselineWhoseKnobIsDeadSpoilsEveryArm) {
  Records bad = records();
  bad.footprints[0].in_force_bytes = 32 * kMiB;
  const auto findings = run_checks(plan(), bad, true);
  ASSERT_THAT(ids(findings), ElementsAre("knob"));
  EXPECT_EQ(findings[0].arm, "64 MiB");
  EXPECT_THAT(findings[0].what, HasSubstr("the baseline"));
}

TEST(Checks, SpeedTurnsMustReachTheLimitToo) {
  Records bad = records();
  for (auto& block : bad.blocks)
    for (auto& one : block.turns)
      one.retained_peak_bytes = 64 * kMiB;
  const auto findings = run_checks(plan(), bad, true);
  ASSERT_THAT(ids(findings), ElementsAre("not_reached"));
  EXPECT_THAT(findings[0].what, HasSubstr("its speed turns never reached 64 MiB"));
}

TEST(Checks, TheLimitItselfIsNotReach) {
  Records bad;
  bad.footprints = {footprint(0, kUnlimited), footprint(1, kLimited)};
  bad.footprints[0].retained_peak_bytes = 64 * kMiB;
  EXPECT_EQ(reach_of(plan(), bad, kLimited).reached, false);
  bad.footprints[0].retained_peak_bytes = 64 * kMiB + 1;
  EXPECT_EQ(reach_of(plan(), bad, kLimited).reached, true);
  EXPECT_EQ(reach_of(plan(), bad, kUnlimited).reached, std::nullopt);
}

TEST(Checks, AnyOneEffectTellsArmsApart) {
  const auto alike = [] {
    Records out = records();
    for (auto& record : out.footprints) {
      record.retained_peak_bytes = 300 * kMiB;
      record.footprint_peak_high_bytes = 800 * kMiB;
      record.page_faults = 10'000;
    }
    return out;
  };
  EXPECT_THAT(found(alike()), ElementsAre("indistinguishable"));
  EXPECT_THAT(ids(run_checks(plan(), alike(), false)), IsEmpty());
  for (auto field : {&FootprintRecord::retained_peak_bytes, &FootprintRecord::footprint_peak_high_bytes,
                     &FootprintRecord::page_faults}) {
    Records out = alike();
    for (auto& record : out.footprints)
      if (record.arm == kLimited) record.*field = record.*field * 8 / 10;
    EXPECT_THAT(found(out), IsEmpty());
  }
}

TEST(Checks, StartsGivenUpLoseTheBlocksTheyNeverRan) {
  Records bad = records();
  bad.blocks.erase(bad.blocks.begin() + 8, bad.blocks.end());  // starts 4 and 5
  bad.failures = {{false, 4, {"a", "b"}}, {false, 5, {"a", "b"}}, {true, 0, {"a"}}};
  const auto count = count_pairs(plan(), bad);
  EXPECT_EQ(count.pairs, 8);
  EXPECT_EQ(count.void_pairs, 4);
  EXPECT_THAT(found(bad), ElementsAre("void_pairs"));  // 4 of 12
  Plan longer = plan();
  longer.sizes.blocks_per_start = 4;
  bad.failures.resize(1);
  EXPECT_EQ(count_pairs(longer, bad).void_pairs, 4);
  bad.failures[0].messages = {"a"};
  EXPECT_EQ(count_pairs(longer, bad).void_pairs, 1);
  EXPECT_THAT(ids(run_checks(longer, bad, true)), IsEmpty());
}

TEST(Checks, AnArmOrABaselineWithoutAFootprintStartIsVoid) {
  for (const int lost : {kLimited, kUnlimited}) {
    Records bad = records();
    bad.footprints = {footprint(0, 1 - lost), footprint(1, 1 - lost)};
    const auto findings = run_checks(plan(), bad, true);
    ASSERT_THAT(ids(findings), testing::Contains("failed_starts"));
    EXPECT_EQ(findings[0].id, "failed_starts");  // the first decides the arm's reason
    EXPECT_EQ(findings[0].arm, "64 MiB");
    EXPECT_THAT(findings[0].what, HasSubstr(lost == kLimited ? "of 64 MiB ended" : "of unlimited ended"));
    EXPECT_THAT(ids(run_checks(plan(), bad, false)), testing::Not(testing::Contains("failed_starts")));
  }
}

TEST(Checks, WarnOfTheOrderAndVoidNothing) {
  Plan many = plan();
  many.sizes.starts = 30;
  Records ordered;
  for (int start = 0; start < 30; ++start)
    for (int block = 0; block < 2; ++block) {
      std::vector<TurnRecord> turns{turn(kUnlimited, false, block), turn(kLimited, false, block),
                                    turn(kUnlimited, true, block)};
      std::rotate(turns.begin(), turns.begin() + (start + block) % 3, turns.end());
      // No two turns alike, and the first of a block is slower than the others.
      for (std::size_t i = 0; i < turns.size(); ++i)
        for (auto* seconds : {&turns[i].measured[0].decode_seconds, &turns[i].measured[0].prefill_seconds})
          *seconds *=
              (i == 0 ? 1.3 : 1.0) * (1 + 0.001 * ((start * 7 + block * 3 + static_cast<int>(i) * 5) % 11));
      ordered.blocks.push_back({start, block, std::move(turns), 3});
    }
  const auto warnings = order_warnings(many, ordered);
  EXPECT_THAT(ids(warnings), testing::Contains("position"));
  for (const auto& warning : warnings)
    EXPECT_FALSE(warning.is_void);
  EXPECT_THAT(order_warnings(plan(), records()), IsEmpty());
}

}  // namespace
}  // namespace weir::lab
