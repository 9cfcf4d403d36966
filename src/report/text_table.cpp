#include "report/text_table.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace weir::report {

namespace {

constexpr int kIndent = 2;
constexpr int kGap = 3;

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

int widest(const std::vector<std::string>& cells) {
  int width = 0;
  for (const std::string& cell : cells)
    width = std::max(width, display_width(cell));
  return width;
}

/// "value (bound)" cells with their values right-aligned among themselves.
void line_up_values(std::vector<std::string>& cells) {
  int width = 0;
  for (const std::string& cell : cells)
    width = std::max(width, display_width(cell.substr(0, cell.find(" ("))));
  for (std::string& cell : cells)
    cell.insert(0, blanks(width - display_width(cell.substr(0, cell.find(" (")))));
}

void pad(std::string& cell, int width, Align align) {
  const std::string filler = blanks(width - display_width(cell));
  cell = align == Align::kRight ? filler + cell : cell + filler;
}

}  // namespace

void TextTable::add_column(std::string_view head, Align align, int give_up) {
  columns_.push_back({spelled(head, style_), align, give_up, {}});
}

void TextTable::add_row(std::vector<std::string> cells) {
  WEIR_CHECK_EQ(cells.size(), columns_.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    columns_[i].cells.push_back(spelled(cells[i], style_));
}

std::vector<TextTable::Column> TextTable::fitting(std::vector<std::string>* left_out) const {
  std::vector<Column> columns = columns_;
  const auto total = [&] {
    return std::accumulate(columns.begin(), columns.end(), kIndent - kGap, [](int sum, const Column& column) {
      return sum + kGap + std::max(display_width(column.head), widest(column.cells));
    });
  };
  for (Column& column : columns)
    if (column.align == Align::kBounded) line_up_values(column.cells);
  while (style_.width > 0 && total() > style_.width) {
    const auto least = std::max_element(columns.begin(), columns.end(), [](const Column& a, const Column& b) {
      return a.give_up < b.give_up;
    });
    if (least == columns.end() || least->give_up == 0) break;
    if (left_out != nullptr) left_out->push_back(least->head);
    columns.erase(least);
  }
  return columns;
}

std::string TextTable::text(std::vector<std::string>* left_out) const {
  std::vector<Column> columns = fitting(left_out);
  const std::size_t rows = columns.empty() ? 0 : columns.front().cells.size();
  std::vector<std::string> lines(rows + 1, blanks(kIndent));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Column& column = columns[i];
    const int width = std::max(display_width(column.head), widest(column.cells));
    const std::string gap = i == 0 ? "" : blanks(kGap);
    pad(column.head, width, column.align);
    lines[0] += gap + column.head;
    for (std::size_t row = 0; row < rows; ++row) {
      pad(column.cells[row], width, column.align);
      lines[row + 1] += gap + column.cells[row];
    }
  }
  std::string out;
  for (std::string& line : lines) {
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace weir::report
