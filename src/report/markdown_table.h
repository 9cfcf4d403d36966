#pragma once

#include <string>
#include <vector>

namespace weir::report {

/// A GFM table. Heads and cells are escaped here.
class MarkdownTable {
 public:
  /// `align` has one letter a column: l or r.
  MarkdownTable(const std::vector<std::string>& heads, const std::string& align);
  void add(const std::vector<std::string>& cells);
  [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
  /// Lines, each ended by a newline.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  void add_line(const std::vector<std::string>& cells);

  std::string text_;
  std::size_t columns_;
  int rows_ = 0;
};

}  // namespace weir::report
