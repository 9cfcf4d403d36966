#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "llm/text/tokenizer.h"

namespace weir::llm {

struct Message {
  std::string role;  ///< "system", "user" or "assistant"; written down as it is.
  std::string content;
};

/// A model's way to write a conversation down. Templates are programs; weir runs none of them: it recognises
/// the ones in the visible table of chat_template.cpp by their whole text and renders those itself.
class ChatTemplate {
 public:
  /// `source` is the model file's `tokenizer.chat_template`. kBadData if there is none or it is not a known
  /// one.
  [[nodiscard]] static Result<ChatTemplate> recognise(const std::optional<std::string>& source);

  /// The conversation with the model's marks, open for the assistant's answer, as one text.
  [[nodiscard]] std::string render(const std::vector<Message>& messages) const;

  /// The same, cut into parts for Tokenizer::encode, so that marks a user typed stay plain text.
  [[nodiscard]] std::vector<TextPart> render_parts(const std::vector<Message>& messages) const;

  /// The token text that ends the assistant's turn: "<|im_end|>".
  [[nodiscard]] const std::string& end_of_turn() const noexcept;

  /// The system prompt the template puts in front when the conversation has none; "" if it puts none.
  [[nodiscard]] const std::string& default_system() const noexcept;

  /// The name in the table, such as "smollm2".
  [[nodiscard]] const std::string& name() const noexcept;

 private:
  ChatTemplate() = default;
  std::string name_;
  std::string default_system_;
  std::string end_of_turn_;
};

}  // namespace weir::llm
