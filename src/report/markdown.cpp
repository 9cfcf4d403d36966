#include "report/markdown.h"

#include <fmt/format.h>

#include "base/byte_text.h"
#include "report/figures.h"
#include "report/markdown_arms.h"
#include "report/markdown_checks.h"
#include "report/markdown_runs.h"
#include "report/priced_rows.h"

namespace weir::report {

namespace {

std::string rule_section(const lab::ExperimentResult& result) {
  const lab::Rule& rule = result.rule;
  std::string out = "## The rule, as sealed\n\n" + markdown_escaped(rule.text) + ".\n\n";
  out += fmt::format(
      "- SHIP: decode and prefill each lose less than {}, and the footprint saved is over {}.\n",
      percent(rule.margin),
      rule.saving_bytes ? exact_bytes(*rule.saving_bytes)
                        : fmt::format("the larger of {} and {} of the baseline's footprint",
                                      exact_bytes(rule.saving_floor_bytes), percent(rule.saving_share)));
  out += fmt::format("- CLOSE: a speed loses more than {} (cost), or the saving is below that (no saving).\n",
                     percent(rule.margin));
  out += fmt::format("- Error rate {} over all arms together (Holm); {} look{}.\n", percent(rule.alpha),
                     result.looks, result.looks == 1 ? "" : "s at 0.0232 each (Pocock)");
  out += fmt::format("- Sealed {} as `{}`; {}; {} pairs kept, {} thrown away; {} of measuring.\n\n",
                     markdown_escaped(result.sealed_at), result.seal, design_text(result), result.pairs,
                     result.void_pairs, minutes(result.elapsed_seconds / 60));
  return out;
}

}  // namespace

std::string markdown(const lab::ExperimentResult& result, const RunRecord& record) {
  std::string out =
      fmt::format("# {}: {}\n\n", lab::verdict_name(result.verdict), markdown_escaped(result.sentence));
  out += fmt::format("{} · {} · {} · plan `{}`\n\n", markdown_escaped(result.environment.model),
                     markdown_escaped(backend_and_library(result.environment)), cores(result.environment),
                     result.seal.substr(0, 8));
  if (result.quick) out += "A quick run is a screen: it can rule nothing in or out.\n\n";
  if (!result.complete) out += "Unfinished: blocks of the plan are missing.\n\n";
  for (const lab::CellResult& cell : result.cells) {
    out += priced_section(cell, result.design) + verdict_section(cell);
    out += checks_section(result, cell);
    out += noise_section(cell, result.rule, result.design) + bounds_section(cell) + exact_section(cell);
  }
  out += rule_section(result) + order_section(record) + starts_section(record);
  return out + environment_section(result, record) + again_section(result, record);
}

}  // namespace weir::report
