#include "cli/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/healthy_facts.h"

namespace weir::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Doctor, FindsNothingWhereNothingIsWrong) {
  EXPECT_THAT(find_faults(healthy_facts()), IsEmpty());
}

TEST(Doctor, ErrorsComeBeforeWarningsAndNotes) {
  DoctorFacts facts = healthy_facts();
  facts.settings.huge_pages.enabled = "always";
  facts.settings.pressure_told = false;
  facts.default_model = fail(ErrorKind::kEnvironment, "smollm2", "not installed");
  EXPECT_EQ(ids(facts), "model-missing no-pressure huge-pages-always");
}

TEST(Doctor, FindsVariablesThatNothingReads) {
  DoctorFacts facts = healthy_facts();
  facts.variables = {{"MLX_METAL_CACHE_LIMIT", "4GB"}, {"WEIR_CACHE_LIMT", "1"}, {"WEIR_CACHE_LIMIT", "1"}};
  const auto findings = find_faults(facts);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].id, "unread-variable");
  EXPECT_THAT(findings[0].mend, HasSubstr("unset MLX_METAL_CACHE_LIMIT"));
  EXPECT_THAT(findings[1].what, HasSubstr("did you mean WEIR_CACHE_LIMIT?"));
}

TEST(Doctor, ReportsABadLimitInsteadOfFailing) {
  DoctorFacts facts = healthy_facts();
  facts.limits = fail(ErrorKind::kUsage, "WEIR_CACHE_LIMIT", "not a size: \"abc\"");
  const auto findings = find_faults(facts);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].id, "bad-limit");
  EXPECT_EQ(findings[0].severity, "error");
}

TEST(Doctor, FindsReferenceBlasAndAMissingOne) {
  DoctorFacts facts = healthy_facts();
  facts.blas = govern::blas_of_file("/site-packages/mlx_cpu.libs/libblas-bd8a282c.so.3.10.0");
  ASSERT_THAT(find_faults(facts), SizeIs(1));
  EXPECT_EQ(find_faults(facts)[0].id, "reference-blas");
  EXPECT_THAT(find_faults(facts)[0].mend, HasSubstr("libopenblas"));
  facts.blas = govern::blas_of_file("");
  EXPECT_EQ(find_faults(facts)[0].id, "no-blas");
}

TEST(Doctor, FindsAKernelBelowTheProcessor) {
  DoctorFacts facts = healthy_facts();
  facts.blas_kernel = "Prescott";
  facts.better_blas_kernel = "SKYLAKEX";
  ASSERT_THAT(find_faults(facts), SizeIs(1));
  EXPECT_EQ(find_faults(facts)[0].id, "old-blas-kernel");
  EXPECT_THAT(find_faults(facts)[0].mend, HasSubstr("OPENBLAS_CORETYPE=SKYLAKEX"));
}

TEST(Doctor, FindsAMissingModel) {
  DoctorFacts facts = healthy_facts();
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
