#include "report/terminal_table.h"

#include <algorithm>
#include <vector>

#include "report/priced_rows.h"
#include "report/text_table.h"

namespace weir::report {

namespace {

const char* colour_of(const lab::ArmResult& arm) {
  if (arm.is_baseline) return "";
  switch (arm.verdict) {
    case lab::Verdict::kShip:
      return "\x1b[32m";
    case lab::Verdict::kClose:
      return "\x1b[31m";
    case lab::Verdict::kInconclusive:
      return "\x1b[33m";
    case lab::Verdict::kVoid:
      return "\x1b[35m";
  }
  return "";
}

/// Verdicts stand last in their lines, so colour goes on after the columns are laid out.
std::string coloured(const std::string& table, const PricedTable& priced, const Style& style) {
  if (!style.colour) return table;
  std::string out;
  std::size_t at = 0;
  for (std::size_t line = 0; at < table.size(); ++line) {
    const std::size_t end = table.find('\n', at);
    std::string text = table.substr(at, end - at);
    if (line > 0 && line <= priced.rows.size()) {
      const PricedRow& row = priced.rows[line - 1];
      const std::string verdict = spelled(row.verdict, style);
      if (*colour_of(*row.arm) != '\0' && text.size() >= verdict.size() &&
          text.compare(text.size() - verdict.size(), verdict.size(), verdict) == 0)
        text = text.substr(0, text.size() - verdict.size()) + colour_of(*row.arm) + verdict + "\x1b[0m";
    }
    out += text + "\n";
    at = end + 1;
  }
  return out;
}

TextTable laid_out(const PricedTable& priced, const Style& style, bool with_verdict) {
  TextTable table(style);
  const std::string unit = std::string(" ") + priced.unit.name;
  table.add_column(priced.arm_head, Align::kLeft);
  table.add_column("footprint" + unit, Align::kBounded);
  table.add_column("live peak" + unit, Align::kRight, 2);
  table.add_column("retained" + unit, Align::kRight, 3);
  table.add_column("faults k", Align::kRight, 1);
  table.add_column("prefill tok/s", Align::kBounded);
  table.add_column("decode tok/s", Align::kBounded);
  if (with_verdict) table.add_column("verdict", Align::kLeft);
  for (const PricedRow& row : priced.rows) {
    std::vector<std::string> cells{row.limit,  row.footprint, row.live_peak, row.retained,
                                   row.faults, row.prefill,   row.decode};
    if (with_verdict) cells.push_back(row.verdict);
    table.add_row(std::move(cells));
  }
  return table;
}

bool fits(const std::string& table, int width) {
  if (width <= 0) return true;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = table.find('\n', at);
    if (display_width(std::string_view(table).substr(at, end - at)) > width) return false;
    at = end + 1;
  }
  return true;
}

std::string verdict_lines(const PricedTable& priced, const Style& style) {
  std::string out;
  for (const PricedRow& row : priced.rows) {
    if (row.arm->is_baseline) continue;
    const char* colour = style.colour ? colour_of(*row.arm) : "";
    out += "  " + spelled(row.limit, style) + ": " + colour + spelled(row.verdict, style) +
           (*colour != '\0' ? "\x1b[0m" : "") + "\n";
  }
  return out;
}

std::string table_text(const lab::CellResult& cell, const Style& style) {
  const PricedTable priced = priced_table(cell);
  std::vector<std::string> left_out;
  std::string table = laid_out(priced, style, true).text(&left_out);
  if (!fits(table, style.width)) {
    left_out.clear();
    table = laid_out(priced, style, false).text(&left_out) + verdict_lines(priced, style);
  } else {
    table = coloured(table, priced, style);
  }
  if (left_out.empty()) return table;
  std::string names;
  for (const std::string& head : left_out)
    names += (names.empty() ? "" : ", ") + head;
  return table + wrapped("(no room for " + names + ": see the report)", style.width, "  ") + "\n";
}

std::string head_lines(const lab::ExperimentResult& result, const lab::CellResult& cell, const Style& style) {
  const std::string clock = result.sealed_at.size() >= 19 ? result.sealed_at.substr(11, 8) : result.sealed_at;
  const std::vector<std::string> lines{result.environment.model + " · " +
                                           backend_and_library(result.environment) + " · " +
                                           cores(result.environment) + " · " + cell_line(cell),
                                       "plan " + result.seal.substr(0, 8) + " sealed " + clock + " UTC · " +
                                           result.rule.text + " · " + design_text(result),
                                       noise_line(cell, result.rule)};
  std::string out;
  for (const std::string& line : lines)
    out += wrapped(spelled(line, style), style.width, "  ") + "\n";
  return out;
}

std::string findings(const lab::CellResult& cell, const Style& style) {
  std::string out;
  for (const lab::CheckFinding& finding : cell.checks_failed) {
    std::string line = finding.is_void ? "check failed: " : "note: ";
    if (!finding.arm.empty()) line += finding.arm + ": ";
    out += wrapped(spelled(line + finding.what, style), style.width, "  ") + "\n";
  }
  return out;
}

}  // namespace

std::string terminal_table(const lab::ExperimentResult& result, const TableFooter& footer,
                           const Style& style) {
  std::string out;
  for (const lab::CellResult& cell : result.cells) {
    out += head_lines(result, cell, style) + "\n" + table_text(cell, style) + "\n";
    out += findings(cell, style);
  }
  out += wrapped(spelled(result.sentence, style), style.width) + "\n";
  std::string kept = footer.stored_curve ? "stored for `weir limits`" : "";
  if (!footer.report_file.empty()) kept += (kept.empty() ? "report: " : "; report: ") + footer.report_file;
  return kept.empty() ? out : out + spelled(kept, style) + "\n";
}

}  // namespace weir::report
