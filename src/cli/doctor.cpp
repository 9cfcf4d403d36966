#include "cli/doctor.h"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/byte_text.h"
#include "cli/limit_flags.h"
#include "govern/blas_kernel.h"
#include "limits/resolve.h"
#include "llm/models.h"

namespace weir::cli {
namespace {

using Findings = std::vector<Finding>;

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

void find_memory(const DoctorFacts& facts, Findings& findings) {
  if (!facts.memory) {
    findings.push_back({"memory-unknown", "error", describe(facts.memory.error()),
                        "mount /proc; until then write limits in bytes, not in percent"});
    return;
  }
  const ledger::MachineMemory& memory = *facts.memory;
  if (!memory.cgroup_limit_bytes || *memory.cgroup_limit_bytes >= memory.total_bytes) return;
  findings.push_back(
      {"cgroup-below-ram", "warning",
       fmt::format("a cgroup allows {} of {} of RAM ({}); MLX's own defaults go by RAM and do not see it",
                   exact_bytes(*memory.cgroup_limit_bytes), exact_bytes(memory.total_bytes),
                   memory.cgroup_source),
       "bound the run with --cache-limit, by bytes or by %free, which heeds the cgroup; or raise the "
       "cgroup's limit"});
}

void find_model(const DoctorFacts& facts, Findings& findings) {
  if (facts.default_model) return;
  findings.push_back(
      {"model-missing", "error", describe(facts.default_model.error()),
       "run scripts/setup, or name a GGUF file instead of " + std::string(llm::kDefaultModel)});
}

DoctorFacts facts_here() {
  const limits::Inputs inputs = limit_inputs({}, std::nullopt);
  auto model = llm::find_model(std::string(llm::kDefaultModel));
  limits::Inputs with_model = model ? limit_inputs({}, *model) : inputs;
  const std::string kernel = govern::blas_kernel();
  return {inputs.variables,
          limits::resolve(with_model),
          govern::blas_identity(),
          ledger::machine_memory(),
          std::move(model),
          kernel,
          govern::better_kernel(kernel, govern::cpu_features())};
}

std::string json_text(const Findings& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    list.push_back(
        {{"id", finding.id}, {"severity", finding.severity}, {"what", finding.what}, {"mend", finding.mend}});
  }
  return nlohmann::json{{"findings", list}}.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

std::string people_text(const Findings& findings) {
  if (findings.empty()) return "no findings\n";
  std::string out;
  for (const Finding& finding : findings) {
    out += fmt::format("{}  {}: {}\n         mend: {}\n",
                       finding.severity + (finding.severity == "error" ? "  " : ""), finding.id, finding.what,
                       finding.mend);
  }
  return out;
}

}  // namespace

Findings find_faults(const DoctorFacts& facts) {
  Findings findings;
  find_variables(facts, findings);
  find_blas(facts, findings);
  find_memory(facts, findings);
  find_model(facts, findings);
  return findings;
}

Subcommand doctor_subcommand() {
  const auto json = std::make_shared<bool>(false);
  Subcommand subcommand;
  subcommand.name = "doctor";
  subcommand.summary = "What is wrong here, and what mends it";
  subcommand.example = "  weir doctor";
  subcommand.flags = {{"--json", "", "Print JSON", json.get()}};
  subcommand.run = [json](const Invocation&) -> Result<int> {
    const Findings findings = find_faults(facts_here());
    print_result(*json ? json_text(findings) : people_text(findings));
    return 0;
  };
  return subcommand;
}

}  // namespace weir::cli
