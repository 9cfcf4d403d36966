#include "ledger/faults.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "ledger/measured_child.h"

namespace weir::ledger {
namespace {

TEST(Faults, CountTheFirstTouchOfEveryPage) {
  constexpr std::int64_t kPages = 4000;
  const auto values = measured_in_child([] {
    void* memory = ::mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ::madvise(memory, kPages * 4096, MADV_NOHUGEPAGE);
    const Faults before = own_faults();
    touch_pages(memory, kPages * 4096);
    const Faults after = own_faults();
    return std::vector<std::int64_t>{after.minor - before.minor, after.major - before.major};
  });
  ASSERT_EQ(values.size(), 2u);
  EXPECT_GE(values[0], kPages);
  if (heap_is_glibc()) {
    EXPECT_LT(values[0], kPages + 200) << "a sanitizer's shadow faults as well";
  }
  EXPECT_GE(values[1], 0);
}

}  // namespace
}  // namespace weir::ledger
