#pragma once

#include <string>

#include "lab/result.h"
#include "report/style.h"

namespace weir::report {

/// What became of a result outside the table.
struct TableFooter {
  bool stored_curve = false;  ///< The curve is kept for `weir limits`.
  std::string report_file;    ///< "": none was written.
};

/// The priced table as `weir price` prints it: what ran where, the sealed plan, the noise floor, one line an
/// arm, one sentence to quote, what failed a check, and where the whole is kept.
///
/// A width that the table does not fit gives up retained, live peak, then faults, and names them; verdicts
/// move to lines of their own last. Ends with a newline. Pure and thread-safe.
[[nodiscard]] std::string terminal_table(const lab::ExperimentResult& result, const TableFooter& footer,
                                         const Style& style);

}  // namespace weir::report
