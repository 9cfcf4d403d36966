#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace weir::llm {

/// Cuts text into the words that byte-pair merges may not cross. Immutable: usable from several threads.
class PreTokenizer {
 public:
  /// By the name in `tokenizer.ggml.pre`; kBadData if the table in pre_tokenizer.cpp has no such row.
  [[nodiscard]] static Result<PreTokenizer> create(std::string_view name);

  /// Hands the words of a valid UTF-8 text to `word`, in order; together they are the text.
  /// kInternal if the pattern engine gives up on a text within the tokenizer's length limit.
  [[nodiscard]] Result<void> split(std::string_view utf8,
                                   const std::function<void(std::string_view)>& word) const;

  /// Whether a word that is a token stays whole, though no merges lead to it.
  [[nodiscard]] bool keeps_whole_words() const noexcept { return keeps_whole_words_; }

  /// Whether these models' prompts start with bos when the model file does not say.
  [[nodiscard]] bool usually_adds_bos() const noexcept { return usually_adds_bos_; }

 private:
  class Pattern;
  PreTokenizer() = default;
  [[nodiscard]] Result<void> split_from(std::size_t step, std::string_view utf8,
                                        const std::function<void(std::string_view)>& word) const;

  std::vector<std::shared_ptr<const Pattern>> steps_;
  bool keeps_whole_words_ = false;
  bool usually_adds_bos_ = false;
};

}  // namespace weir::llm
