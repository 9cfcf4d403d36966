#include "report/markdown_table.h"

#include "base/check.h"
#include "report/markdown.h"
#include "report/style.h"

namespace weir::report {

std::string markdown_escaped(std::string_view text) {
  std::string out;
  for (const char letter : spelled(text, Style{})) {
    if (std::string_view("\\`*_[]<>|#~&").find(letter) != std::string_view::npos) out += '\\';
    out += letter;
  }
  return out;
}

MarkdownTable::MarkdownTable(const std::vector<std::string>& heads, const std::string& align)
    : columns_(heads.size()) {
  WEIR_CHECK_EQ(heads.size(), align.size());
  add_line(heads);
  text_ += "|";
  for (const char letter : align)
    text_ += letter == 'r' ? " ---: |" : " --- |";
  text_ += "\n";
}

void MarkdownTable::add(const std::vector<std::string>& cells) {
  WEIR_CHECK_EQ(cells.size(), columns_);
  add_line(cells);
  ++rows_;
}

void MarkdownTable::add_line(const std::vector<std::string>& cells) {
  text_ += "|";
  for (const std::string& cell : cells)
    text_ += " " + markdown_escaped(cell) + " |";
  text_ += "\n";
}

}  // namespace weir::report
