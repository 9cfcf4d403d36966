#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/healthy_facts.h"

namespace weir::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kGB = 1'000'000'000;

TEST(DoctorKernel, HugePagesThatAreOffCostFaults) {
  DoctorFacts facts = healthy_facts();
  facts.settings.huge_pages.enabled = "never";
  EXPECT_EQ(ids(facts), "huge-pages-off");
  EXPECT_THAT(finding(facts, "huge-pages-off").mend, StartsWith("echo madvise | sudo tee /sys/kernel/mm/"));
  facts.settings.huge_pages = {"madvise", "madvise", 1, 511, true};
  EXPECT_EQ(ids(facts), "huge-pages-off");
  EXPECT_THAT(finding(facts, "huge-pages-off").what, HasSubstr("PR_SET_THP_DISABLE"));
}

TEST(DoctorKernel, HugePagesForAllGrowHeaps) {
  DoctorFacts facts = healthy_facts();
  facts.settings.huge_pages.enabled = "always";
  EXPECT_EQ(ids(facts), "huge-pages-always");
  EXPECT_EQ(finding(facts, "huge-pages-always").severity, "note");
  EXPECT_THAT(finding(facts, "huge-pages-always").what, HasSubstr("up to 511 untouched pages"));
  facts.settings.huge_pages.defrag = "always";
  EXPECT_EQ(ids(facts), "huge-pages-always huge-pages-stall");
}

TEST(DoctorKernel, HugePagesThatNobodyMakesAreRare) {
  DoctorFacts facts = healthy_facts();
  facts.settings.huge_pages.defrag = "defer+madvise";
  EXPECT_EQ(ids(facts), "") << "the pool asks";
  facts.settings.huge_pages.defrag = "defer";
  EXPECT_EQ(ids(facts), "huge-pages-rare");
  facts.settings.huge_pages.defrag = "never";
  facts.settings.huge_pages.khugepaged_defrag = 0;
  EXPECT_THAT(finding(facts, "huge-pages-rare").what, HasSubstr("nobody makes any"));
}

TEST(DoctorKernel, AKernelThatTellsNothingIsNotBlamed) {
  DoctorFacts facts = healthy_facts();
  facts.settings = {};
  EXPECT_EQ(ids(facts), "");
}

TEST(DoctorKernel, MappingsMustServeTheGranulesOfAllMemory) {
  DoctorFacts facts = healthy_facts();
  facts.settings.max_map_count = 2 * 7629;  // 16 GB are 7,629 granules
  EXPECT_EQ(ids(facts), "");
  facts.settings.max_map_count = 2 * 7629 - 2;
  EXPECT_EQ(ids(facts), "few-mappings");
  EXPECT_EQ(finding(facts, "few-mappings").severity, "warning");
  EXPECT_EQ(finding(facts, "few-mappings").mend, "sudo sysctl -w vm.max_map_count=16384");
  facts.settings.limits.data = kGB;
  EXPECT_EQ(finding(facts, "few-mappings").id, "") << "so little memory needs no more";
}

TEST(DoctorKernel, AMachineThatIsLargeForTheUsualMappingsGetsANote) {
  DoctorFacts facts = healthy_facts();
  facts.memory->total_bytes = 128 * kGB;
  EXPECT_EQ(ids(facts), "few-mappings");
  EXPECT_EQ(finding(facts, "few-mappings").severity, "note");
}

TEST(DoctorKernel, StrictOvercommitTellsItsHeadRoom) {
  DoctorFacts facts = healthy_facts();
  facts.settings.overcommit = 2;
  facts.settings.commit_limit = 8 * kGB;
  facts.settings.committed = 5 * kGB;
  const Finding found = finding(facts, "strict-overcommit");
  EXPECT_EQ(found.severity, "warning");
  EXPECT_THAT(found.what,
              HasSubstr("5,000,000,000 bytes of 8,000,000,000 bytes are promised, 3,000,000,000"));
  EXPECT_THAT(found.mend, StartsWith("weir run --memory-limit 2700000000"));
  facts.settings.committed = 8 * kGB - 1000;
  EXPECT_EQ(finding(facts, "strict-overcommit").severity, "error");
  facts.settings.overcommit = 1;
  EXPECT_EQ(ids(facts), "");
}

TEST(DoctorPressure, SwapInUseIsNamed) {
  DoctorFacts facts = healthy_facts();
  facts.settings.swap = {4 * kGB, 0, 0, 60};
  EXPECT_EQ(ids(facts), "") << "swap that nobody uses is no fault";
  facts.settings.swap.used = kGB;
  EXPECT_EQ(ids(facts), "swapping");
  EXPECT_THAT(finding(facts, "swapping").what, HasSubstr("1,000,000,000 bytes of 4,000,000,000 bytes"));
}

TEST(DoctorPressure, EagerSwappingMattersOnDisksAlone) {
  DoctorFacts facts = healthy_facts();
  facts.settings.swap = {4 * kGB, 0, 4 * kGB, 180};
  EXPECT_EQ(ids(facts), "") << "all of it is compressed memory";
  facts.settings.swap.compressed = 0;
  EXPECT_EQ(ids(facts), "swappiness");
  facts.settings.swap.total = 0;
  EXPECT_EQ(ids(facts), "");
}

TEST(DoctorPressure, WithoutPsiPressureIsNotSeen) {
  DoctorFacts facts = healthy_facts();
  facts.settings.pressure_told = false;
  EXPECT_THAT(finding(facts, "no-pressure").what, HasSubstr("a neighbour's need alone"));
  facts.cgroup.limit_bytes = 16 * kGB;
  EXPECT_THAT(finding(facts, "no-pressure").what, HasSubstr("the cgroup's bound alone"));
}

TEST(DoctorPressure, AWiredLimitWiresNothingHere) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"MLX_WIRED_LIMIT", "8GB"}};
  EXPECT_EQ(ids(facts), "unread-variable wired-limit");
  EXPECT_THAT(finding(facts, "wired-limit").what, HasSubstr("could lock 8,388,608 bytes"));
}

TEST(DoctorPressure, LockedMemoryUnderThePoolIsNotReturned) {
  DoctorFacts facts = healthy_facts();
  facts.places.governed = {{.pid = 77, .command = "python3", .over_pool = true, .locked_bytes = 5'000'000}};
  EXPECT_EQ(ids(facts), "locked-memory");
  EXPECT_THAT(finding(facts, "locked-memory").what,
              AllOf(HasSubstr("python3 (pid 77) has locked 5,000,000 bytes"),
                    HasSubstr("RLIMIT_MEMLOCK 8,388,608 bytes")));
  facts.places.governed[0].over_pool = false;
  EXPECT_EQ(ids(facts), "") << "MLX's own allocator is not in its way";
}

}  // namespace
}  // namespace weir::cli
