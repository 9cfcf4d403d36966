#include "report/markdown_checks.h"

#include <array>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "report/markdown.h"
#include "report/markdown_table.h"

namespace weir::report {

namespace {

struct Check {
  const char* id;
  const char* name;
  const char* passed;
};

constexpr std::array<Check, 5> kChecks{{
    {"work", "identical work", "every turn ran the same tokens, with the same finish and the same ids"},
    {"knob", "the knob moved", "each limit was read back from the library after its switch"},
    {"indistinguishable", "arms can be told apart", "what the arms retained differs as their limits do"},
    {"failed_starts", "starts survived", "no more starts failed than the plan allows"},
    {"void_pairs", "pairs survived", "no more pairs were thrown away than the plan allows"},
}};

/// The void findings of one id, joined; "" when there are none.
std::string failures(const lab::CellResult& cell, const std::string& id, const std::string& arm = "") {
  std::string out;
  for (const lab::CheckFinding& finding : cell.checks_failed) {
    if (!finding.is_void || finding.id != id || (!arm.empty() && finding.arm != arm)) continue;
    out += (out.empty() ? "" : "; ") + (finding.arm.empty() || !arm.empty() ? "" : finding.arm + ": ") +
           finding.what;
  }
  return out;
}

std::optional<std::int64_t> baseline_retained(const lab::CellResult& cell) {
  for (const lab::ArmResult& arm : cell.arms)
    if (arm.is_baseline) return arm.measured.retained_peak_bytes;
  return std::nullopt;
}

void add_reach(MarkdownTable& table, const lab::CellResult& cell) {
  const std::optional<std::int64_t> retained = baseline_retained(cell);
  for (const lab::ArmResult& arm : cell.arms) {
    if (arm.is_baseline) continue;
    const std::string name = "reached: " + arm.name;
    const std::string failed = failures(cell, "not_reached", arm.name);
    const std::string figures = retained && arm.cache_limit_bytes
                                    ? fmt::format("the baseline retained {}, the limit is {}",
                                                  exact_bytes(*retained), exact_bytes(*arm.cache_limit_bytes))
                                    : std::string("no limit to reach, or nothing measured");
    table.add({name,
               !arm.reached   ? "not known"
               : *arm.reached ? "passed"
                              : "failed",
               failed.empty() ? figures : failed});
  }
}

bool is_listed(const std::string& id) {
  for (const Check& check : kChecks)
    if (id == check.id) return true;
  return id == "not_reached";
}

}  // namespace

std::string checks_section(const lab::ExperimentResult& result, const lab::CellResult& cell) {
  MarkdownTable table({"check", "outcome", "evidence"}, "lll");
  for (const Check& check : kChecks) {
    const std::string failed = failures(cell, check.id);
    if (!failed.empty()) {
      table.add({check.name, "failed", failed});
    } else if (result.pairs > 0) {
      table.add({check.name, "passed", check.passed});
    } else {
      table.add({check.name, "not known", "no pair was kept"});
    }
  }
  add_reach(table, cell);
  std::string notes;
  for (const lab::CheckFinding& finding : cell.checks_failed) {
    if (finding.is_void && is_listed(finding.id)) continue;
    if (finding.is_void) table.add({finding.id, "failed", finding.what});
    if (!finding.is_void)
      notes += "- " + markdown_escaped((finding.arm.empty() ? "" : finding.arm + ": ") + finding.what) + "\n";
  }
  return "## Checks\n\n" + table.text() + (notes.empty() ? "" : "\nNotes, which void nothing:\n\n" + notes) +
         "\n";
}

}  // namespace weir::report
