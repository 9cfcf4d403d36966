#include "pool/hard_cap.h"

#include <gtest/gtest.h>

#include <cstring>

#include "pool/pool.h"

namespace weir::pool {
namespace {

constexpr std::uint64_t kMost = ~std::uint64_t{0};

TEST(OverLimit, TextIsASumThatAddsUp) {
  Refusal refusal;
  refusal.requested = 536'870'912;
  refusal.live = 1'021'313'024;
  refusal.padding = 1'204'224;
  refusal.memory_limit = 1'073'741'824;
  EXPECT_STREQ(
      OverLimit(refusal).what(),
      "weir: 536,870,912 bytes cannot be granted: live 1,021,313,024 + retained 0 + padding 1,204,224 + "
      "this request = 1,559,388,160, over the memory limit of 1,073,741,824 bytes (--memory-limit); the "
      "process can go on");
}

TEST(OverLimit, NamesRoundingWhereTheSumItselfFits) {
  Refusal refusal;
  refusal.requested = 1'000;
  refusal.live = 2'000'000;
  refusal.padding = 97'152;
  refusal.memory_limit = 3'000'000;
  EXPECT_STREQ(
      OverLimit(refusal).what(),
      "weir: 1,000 bytes cannot be granted: live 2,000,000 + retained 0 + padding 97,152 + this request = "
      "2,098,152, in whole granules of 2,097,152 over the memory limit of 3,000,000 bytes "
      "(--memory-limit); the process can go on");
}

TEST(OverLimit, NamesWhatIsOverdrawn) {
  Refusal refusal;
  refusal.requested = 1;
  refusal.live = 300;
  refusal.overdraw = 100;
  refusal.memory_limit = 200;
  EXPECT_NE(std::strstr(OverLimit(refusal).what(), "= 301, 100 of it overdrawn and not yet repaid, over"),
            nullptr);
}

TEST(OverLimit, SaysThatTheKernelHadNoMore) {
  Refusal refusal;
  refusal.requested = 12'345;
  refusal.live = 1;
  refusal.memory_limit = kUnlimited;
  EXPECT_STREQ(
      OverLimit(refusal).what(),
      "weir: 12,345 bytes cannot be granted: live 1 + retained 0 + padding 0 are held and the kernel had no "
      "more memory for this process; the process can go on");
}

TEST(OverLimit, TextHoldsTheLargestNumbers) {
  Refusal refusal{kMost, kMost, kMost, kMost, kMost, kMost - 1};
  const OverLimit error(refusal);
  EXPECT_NE(std::strstr(error.what(), "the process can go on"), nullptr) << error.what();
}

TEST(OverLimit, IsCaughtAsBadAllocWithItsText) {
  try {
    throw OverLimit(Refusal{});
  } catch (const std::bad_alloc& error) {
    EXPECT_EQ(std::strncmp(error.what(), "weir: 0 bytes cannot be granted", 31), 0);
  }
}

}  // namespace
}  // namespace weir::pool
