#include "govern/blas_kernel.h"

#include <gtest/gtest.h>

namespace weir::govern {
namespace {

TEST(BlasKernel, ReplacesOnlyKernelsBelowTheProcessor) {
  const CpuFeatures avx512{true, true};
  const CpuFeatures avx2{true, false};
  const CpuFeatures old{false, false};
  EXPECT_EQ(better_kernel("Prescott", avx512), "SKYLAKEX");
  EXPECT_EQ(better_kernel("Nehalem", avx2), "HASWELL");
  EXPECT_EQ(better_kernel("Prescott", old), "");
  EXPECT_EQ(better_kernel("SkylakeX", avx512), "");
  EXPECT_EQ(better_kernel("Haswell", avx512), "");
  EXPECT_EQ(better_kernel("", avx512), "");
}

TEST(BlasKernel, ThisProgramIsAnsweredByOpenBlas) {
  EXPECT_NE(blas_kernel(), "");
  EXPECT_GE(blas_threads(), 1);
}

}  // namespace
}  // namespace weir::govern
