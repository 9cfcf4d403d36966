#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

DoctorFacts healthy() {
  ledger::MachineMemory memory;
  memory.total_bytes = 16'000'000'000;
  memory.available_bytes = 8'000'000'000;
  return {{},
          limits::Resolved{},
          {"OpenBLAS 0.3.21", false, "/usr/lib/libopenblas.so.0"},
          memory,
          std::filesystem::path("/models/smollm2.gguf")};
}

TEST(Doctor, FindsNothingWhereNothingIsWrong) {
  EXPECT_THAT(find_faults(healthy()), IsEmpty());
}

TEST(Doctor, FindsVariablesThatNothingReads) {
  DoctorFacts facts = healthy();
  facts.variables = {{"MLX_METAL_CACHE_LIMIT", "4GB"}, {"WEIR_CACHE_LIMT", "1"}, {"WEIR_CACHE_LIMIT", "1"}};
  const auto findings = find_faults(facts);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].id, "unread-variable");
  EXPECT_THAT(findings[0].mend, HasSubstr("unset MLX_METAL_CACHE_LIMIT"));
  EXPECT_THAT(findings[1].what, HasSubstr("did you mean WEIR_CACHE_LIMIT?"));
}

TEST(Doctor, ReportsABadLimitInsteadOfFailing) {
  DoctorFacts facts = healthy();
  facts.limits = fail(ErrorKind::kUsage, "WEIR_CACHE_LIMIT", "not a size: \"abc\"");
  const auto findings = find_faults(facts);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].id, "bad-limit");
  EXPECT_EQ(findings[0].severity, "error");
}

TEST(Doctor, FindsReferenceBlasAndAMissingOne) {
  DoctorFacts facts = healthy();
  facts.blas = govern::blas_of_file("/site-packages/mlx_cpu.libs/libblas-bd8a282c.so.3.10.0");
  ASSERT_THAT(find_faults(facts), SizeIs(1));
  EXPECT_EQ(find_faults(facts)[0].id, "reference-blas");
  EXPECT_THAT(find_faults(facts)[0].mend, HasSubstr("libopenblas"));
  facts.blas = govern::blas_of_file("");
  EXPECT_EQ(find_faults(facts)[0].id, "no-blas");
}

TEST(Doctor, FindsAKernelBelowTheProcessor) {
  DoctorFacts facts = healthy();
  facts.blas_kernel = "Prescott";
  facts.better_blas_kernel = "SKYLAKEX";
  ASSERT_THAT(find_faults(facts), SizeIs(1));
  EXPECT_EQ(find_faults(facts)[0].id, "old-blas-kernel");
  EXPECT_THAT(find_faults(facts)[0].mend, HasSubstr("OPENBLAS_CORETYPE=SKYLAKEX"));
}

TEST(Doctor, FindsACgroupBelowRam) {
  DoctorFacts facts = healthy();
  facts.memory->cgroup_limit_bytes = 16'000'000'000;
  EXPECT_THAT(find_faults(facts), IsEmpty()) << "a cgroup as large as RAM takes nothing away";
  facts.memory->cgroup_limit_bytes = 4'000'000'000;
  facts.memory->cgroup_source = "/sys/fs/cgroup/memory.max";
  const auto findings = find_faults(facts);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].id, "cgroup-below-ram");
  EXPECT_THAT(findings[0].what, HasSubstr("4,000,000,000 bytes of 16,000,000,000 bytes"));
}

TEST(Doctor, FindsAMissingModel) {
  DoctorFacts facts = healthy();
  facts.default_model = fail(ErrorKind::kEnvironment, "smollm2", "not installed");
  ASSERT_THAT(find_faults(facts), SizeIs(1));
  EXPECT_EQ(find_faults(facts)[0].id, "model-missing");
}

TEST(BlasIdentity, AnswersOpenBlasInThisProgram) {
  const govern::BlasIdentity blas = govern::blas_identity();
  EXPECT_FALSE(blas.reference) << blas.file;
  EXPECT_THAT(blas.name, HasSubstr("OpenBLAS"));
}

}  // namespace
}  // namespace weir::cli
