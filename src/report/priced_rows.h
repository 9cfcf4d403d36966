#pragma once

#include <string>
#include <vector>

#include "lab/result.h"
#include "report/figures.h"

namespace weir::report {

/// One line of the priced table: absolute figures for the baseline, changes against it for the others.
/// Unknown figures are "?". `limit` is the arm's name: with its allocator where that is not MLX's own.
struct PricedRow {
  std::string limit, footprint, live_peak, retained, faults, prefill, decode, verdict;
  const lab::ArmResult* arm = nullptr;
};

/// Heads with their units, and the rows in the plan's order, the baseline first. Shared by the terminal's
/// table and the Markdown one. The rows point into `cell`.
struct PricedTable {
  std::string arm_head;  ///< "freed buffers kept", or "arm" where allocators are compared too.
  ByteUnit unit{};
  std::vector<PricedRow> rows;
};
[[nodiscard]] PricedTable priced_table(const lab::CellResult& cell);

/// "cell churn: 14 of 14 prompts, 100–1,000 tokens".
[[nodiscard]] std::string cell_line(const lab::CellResult& cell);

/// "A against A: decode ±0.6 %, prefill ±0.5 %; a 2 % question takes 4 min here"; says so where nothing is
/// known.
[[nodiscard]] std::string noise_line(const lab::CellResult& cell, const lab::Rule& rule);

/// "6 starts × 4 blocks", "4 of 6 starts × 4 blocks" while unfinished; "between: 12 blocks × 4 starts", with
/// "× 2 turns" where a start runs more than one.
[[nodiscard]] std::string design_text(const lab::ExperimentResult& result);

}  // namespace weir::report
