#include "cli/trim_at.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using wire::Allocator;

Boundaries parsed(const std::string& list) {
  return boundaries_of(list, Allocator::kWeir).value();
}

TEST(TrimAt, HasADefaultUnderWeirAlone) {
  EXPECT_EQ(boundaries_of({}, Allocator::kWeir).value(), (Boundaries{wire::kTrimAtPressure, 30'000}));
  EXPECT_EQ(boundaries_of({}, Allocator::kMlxPolicy).value(), Boundaries());
  EXPECT_EQ(boundaries_of({}, Allocator::kMlx).value(), Boundaries());
}

TEST(TrimAt, NamesBoundariesByComma) {
  EXPECT_EQ(parsed("none"), Boundaries());
  EXPECT_EQ(parsed("request"), (Boundaries{wire::kTrimAtRequest, 0}));
  EXPECT_EQ(parsed("pressure,phase"), (Boundaries{wire::kTrimAtPressure | wire::kTrimAtPhase, 0}));
  EXPECT_EQ(parsed("idle=5"), (Boundaries{0, 5'000}));
  EXPECT_EQ(parsed("idle=0.25,request"), (Boundaries{wire::kTrimAtRequest, 250}));
  EXPECT_EQ(parsed("idle=1000000"), (Boundaries{0, 1'000'000'000}));
}

TEST(TrimAt, RefusesEverythingElseWithAnExample) {
  for (const char* list : {"",
                           ",",
                           "request,",
                           ",request",
                           "none,request",
                           "request,none",
                           "requests",
                           "Request",
                           " request",
                           "request request",
                           "request,request",
                           "idle",
                           "idle=",
                           "idle=0",
                           "idle=0.000",
                           "idle=-1",
                           "idle=+1",
                           "idle=1s",
                           "idle=1.",
                           "idle=.5",
                           "idle=1.2345",
                           "idle=1e3",
                           "idle=1000000.001",
                           "idle=1000001",
                           "idle=99999999999999999999",
                           "idle=3,idle=4",
                           "pressure=1"}) {
    const auto refused = boundaries_of(list, Allocator::kWeir);
    ASSERT_FALSE(refused) << list;
    EXPECT_EQ(refused.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(refused.error().where, "--trim-at");
    EXPECT_THAT(refused.error().message, HasSubstr("--trim-at idle=30,pressure"));
  }
}

TEST(TrimAt, UnderMlxOnlyNoneCanBeKept) {
  EXPECT_TRUE(boundaries_of("none", Allocator::kMlx));
  const auto refused = boundaries_of("idle=3", Allocator::kMlx);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--allocator weir"));
  EXPECT_TRUE(boundaries_of("idle=3", Allocator::kMlxPolicy));
}

TEST(TrimAt, TheTextLeadsBackToTheSame) {
  for (const char* list : {"none", "request", "request,phase,idle=30,pressure", "idle=2.5", "idle=0.001",
                           "phase,idle=10", "idle=100,pressure"})
    EXPECT_EQ(boundaries_text(parsed(list)), list);
}

}  // namespace
}  // namespace weir::cli
