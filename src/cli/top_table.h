#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/top_history.h"
#include "cli/top_line.h"

namespace weir::cli {

/// The table of `weir top`: the columns that a width has room for, most important first; what is left over
/// goes to the command, the bar and the history. Pure.
class TopTable {
 public:
  /// As wide as the frame; bars of all processes share a scale.
  TopTable(const std::vector<WatchedProcess>& processes, const TopFrame& frame);

  [[nodiscard]] TopLine head() const;
  [[nodiscard]] TopLine row(const WatchedProcess& process) const;

 private:
  enum class Column : std::size_t;
  void choose(const std::vector<WatchedProcess>& processes);
  void add_cell(TopLine& line, Column column, const WatchedProcess& process) const;
  [[nodiscard]] int width_of(Column column) const noexcept;

  TopFrame frame_;
  std::int64_t scale_ = 1;
  std::vector<int> widths_;  ///< By column; 0: not shown.
};

}  // namespace weir::cli
