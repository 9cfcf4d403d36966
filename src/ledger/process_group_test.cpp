#include "ledger/process_group.h"

#include <gtest/gtest.h>

namespace weir::ledger {
namespace {

Layers process(std::int64_t footprint, std::int64_t live, std::int64_t file) {
  Layers layers;
  layers.footprint = footprint;
  layers.live = live;
  layers.unexplained = footprint - live;
  layers.file = file;
  layers.resident = footprint + file;
  layers.swap = 0;
  return layers;
}

TEST(ProcessGroup, IsBoundedByItsLargestMemberAndItsSum) {
  const ProcessGroup group = sum_processes({process(500, 400, 60), process(300, 100, 60)});
  EXPECT_EQ(group.processes, 2u);
  EXPECT_EQ(group.sum.footprint, 800);
  EXPECT_EQ(group.sum.live, 500);
  EXPECT_EQ(group.footprint_low, 500);
  EXPECT_EQ(group.footprint_high, 800);
  EXPECT_EQ(group.resident_low, 560);
  EXPECT_EQ(group.resident_high, 920) << "the library of 60 bytes counts for each";
}

TEST(ProcessGroup, OfOneIsExact) {
  const ProcessGroup group = sum_processes({process(500, 400, 60)});
  EXPECT_EQ(group.footprint_low, group.footprint_high);
}

TEST(ProcessGroup, OfNobodyHoldsNothing) {
  const ProcessGroup group = sum_processes({});
  EXPECT_EQ(group.processes, 0u);
  EXPECT_EQ(group.footprint_high, 0);
  EXPECT_EQ(group.sum.footprint, std::nullopt);
}

}  // namespace
}  // namespace weir::ledger
