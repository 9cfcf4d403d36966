#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace weir::llm {

/// Cuts a stream of text at the first stop string, however the text is cut into chunks. The stop string
/// itself is not emitted. The first is the one that begins earliest in the whole text: while an earlier one
/// may still be growing, a complete one waits (flush cuts at it). One per stream; not thread-safe.
class StopStrings {
 public:
  struct Step {
    std::string emit;      ///< Text that is safe to show now.
    bool stopped = false;  ///< A stop string was found; later pushes emit nothing.
  };

  /// Empty stop strings are ignored.
  explicit StopStrings(std::vector<std::string> stops);

  /// Holds back the end of the text as long as it may be the beginning of a stop string.
  [[nodiscard]] Step push(std::string_view text);

  /// The end of the stream: what was held back, cut at a stop string that waited for a longer, earlier one.
  [[nodiscard]] std::string flush();

 private:
  std::vector<std::string> stops_;
  std::size_t longest_ = 0;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace weir::llm
