#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/style.h"

namespace weir::report {

/// Left: words. Right: numbers. Bounded: "value (bound)", lined up at the parenthesis.
enum class Align { kLeft, kRight, kBounded };

/// Rows of cells in columns that line up by what a terminal shows. A column may be given up when the width
/// does not suffice. Not thread-safe.
class TextTable {
 public:
  explicit TextTable(Style style) : style_(style) {}

  /// `give_up` 0: never left out; of the others the highest goes first.
  void add_column(std::string_view head, Align align, int give_up = 0);
  /// One cell for each column, in order.
  void add_row(std::vector<std::string> cells);

  /// Lines with two columns of indent, no trailing blanks, each ended by a newline. `left_out` gets the heads
  /// of the columns that the width had no room for.
  [[nodiscard]] std::string text(std::vector<std::string>* left_out = nullptr) const;

 private:
  struct Column {
    std::string head;
    Align align;
    int give_up;
    std::vector<std::string> cells;
  };
  [[nodiscard]] std::vector<Column> fitting(std::vector<std::string>* left_out) const;

  Style style_;
  std::vector<Column> columns_;
};

}  // namespace weir::report
