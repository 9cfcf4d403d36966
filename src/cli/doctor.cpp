#include "cli/doctor.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/doctor_rules.h"
#include "cli/limit_flags.h"
#include "govern/blas_kernel.h"
#include "limits/resolve.h"
#include "llm/models.h"

namespace weir::cli {
namespace {

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
          govern::better_kernel(kernel, govern::cpu_features()),
          ledger::own_cgroup_memory(),
          ledger::process_cgroup(0),
          ledger::machine_settings(),
          neighbours(),
          places_here()};
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
    out += fmt::format("{:<7}  {}: {}\n         mend: {}\n", finding.severity, finding.id, finding.what,
                       finding.mend);
  }
  return out;
}

int rank(const Finding& finding) {
  if (finding.severity == "error") return 0;
  return finding.severity == "warning" ? 1 : 2;
}

}  // namespace

Findings find_faults(const DoctorFacts& facts) {
  Findings findings;
  find_variables(facts, findings);
  find_libraries(facts, findings);
  find_bounds(facts, findings);
  find_denominators(facts, findings);
  find_kernel(facts, findings);
  find_pressure(facts, findings);
  find_governors(facts, findings);
  find_places(facts, findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return rank(a) < rank(b); });
  return findings;
}

Subcommand doctor_subcommand() {
  const auto json = std::make_shared<bool>(false);
  Subcommand subcommand;
  subcommand.name = "doctor";
  subcommand.summary = "What is wrong here, and what mends it";
  subcommand.example = "  weir doctor\n  weir doctor --json | jq -r '.findings[] | .id + \": \" + .mend'";
  subcommand.flags = {{"--json", "", "Print JSON", json.get()}};
  subcommand.run = [json](const Invocation&) -> Result<int> {
    const Findings findings = find_faults(facts_here());
    print_result(*json ? json_text(findings) : people_text(findings));
    return 0;
  };
  return subcommand;
}

}  // namespace weir::cli
