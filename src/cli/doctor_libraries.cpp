#include "cli/doctor_rules.h"
#include "llm/models.h"

namespace weir::cli {
namespace {

void find_blas(const DoctorFacts& facts, Findings& findings) {
  if (facts.blas.file.empty()) {
    findings.push_back({"no-blas", "error", "no library answers cblas_sgemm in this process",
                        "install OpenBLAS (Debian: libopenblas0-pthread) and build weir again"});
  } else if (facts.blas.reference) {
    findings.push_back(
        {"reference-blas", "warning",
         "reference BLAS answers MLX's matrix products, some fifty times slower than OpenBLAS: " +
             facts.blas.file,
         "install OpenBLAS (Debian: libopenblas0-pthread) and build weir again, or start it with "
         "LD_PRELOAD=libopenblas.so.0"});
  } else if (!facts.better_blas_kernel.empty()) {
    findings.push_back({"old-blas-kernel", "warning",
                        "OpenBLAS does not know this processor and uses its " + facts.blas_kernel +
                            " kernels, several times slower; weir's own runner starts itself with better "
                            "ones, other programs do not",
                        "set OPENBLAS_CORETYPE=" + facts.better_blas_kernel + " for other MLX programs"});
  }
}

}  // namespace

void find_variables(const DoctorFacts& facts, Findings& findings) {
  for (const limits::Warning& warning : limits::unread_variables(facts.variables)) {
    findings.push_back({"unread-variable", "warning", warning.name + ": " + warning.what,
                        "unset " + warning.name + "; `weir limits` shows what is in force"});
  }
  if (!facts.limits) {
    findings.push_back({"bad-limit", "error", describe(facts.limits.error()),
                        "correct or remove it: nothing that uses a limit starts before"});
  }
}

void find_libraries(const DoctorFacts& facts, Findings& findings) {
  find_blas(facts, findings);
  if (!facts.default_model)
    findings.push_back(
        {"model-missing", "error", describe(facts.default_model.error()),
         "run scripts/setup, or name a GGUF file instead of " + std::string(llm::kDefaultModel)});
}

}  // namespace weir::cli
