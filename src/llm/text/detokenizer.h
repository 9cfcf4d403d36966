#pragma once

#include <string>
#include <string_view>

#include "llm/text/tokenizer.h"

namespace weir::llm {

/// Turns ids into text as they come; what it returns is always valid UTF-8. One per stream; not thread-safe.
class Detokenizer {
 public:
  enum class Control { kSkip, kShow };

  explicit Detokenizer(Tokenizer tokenizer, Control control = Control::kSkip);

  /// The text that is complete with this token; an unfinished UTF-8 sequence is held back. Bytes that cannot
  /// be UTF-8 become U+FFFD, one for each maximal part of a sequence (Unicode 15, section 3.9, table 3-8).
  [[nodiscard]] std::string push(TokenId id);

  /// The end of the stream: a held, unfinished sequence becomes one U+FFFD. The object is ready for a new
  /// stream.
  [[nodiscard]] std::string flush();

 private:
  Tokenizer tokenizer_;
  Control control_;
  std::string held_;
};

}  // namespace weir::llm
