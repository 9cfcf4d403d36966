#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "llm/text/vocabulary.h"

namespace weir::llm {

using TokenId = std::int32_t;

/// A stretch of text to encode. User-defined tokens are always recognised in it, control tokens only if
/// `parse_special`: a text from outside must not be able to end a turn.
struct TextPart {
  std::string text;
  bool parse_special = false;
};

/// Text to token ids and back, for byte-level BPE vocabularies. Immutable after `create`: every member may be
/// called from several threads at once. Cheap to move; copies share the tables.
class Tokenizer {
 public:
  /// The longest text `encode` takes, 16 MiB.
  static constexpr std::size_t kMaxInputBytes = std::size_t{16} << 20;

  /// Checks the vocabulary. kBadData names what is wrong: another model or pre-tokenizer than the known ones,
  /// lists of different lengths, a token that appears twice or is no byte-level text, a printable ASCII byte
  /// without a token, a merge of unknown tokens, a bos or eos outside the vocabulary.
  [[nodiscard]] static Result<Tokenizer> create(Vocabulary vocabulary);

  /// The ids of a UTF-8 text (see TextPart for `parse_special`), with `bos` in front if `adds_bos()`. Bytes
  /// that are no UTF-8 are encoded one by one, so that `decode` gives them back; the bytes in
  /// `missing_bytes()` are left out, as the reference implementations do. Takes about 20 bytes of memory for
  /// each byte of the longest word. kBadData if the text is longer than kMaxInputBytes.
  [[nodiscard]] Result<std::vector<TokenId>> encode(std::string_view utf8, bool parse_special) const;

  /// The same for several parts in a row, each encoded by itself; `bos` once, in front.
  [[nodiscard]] Result<std::vector<TokenId>> encode(const std::vector<TextPart>& parts) const;

  /// The bytes a token stands for; often not a whole UTF-8 sequence. An id outside the vocabulary is our bug
  /// (WEIR_CHECK).
  [[nodiscard]] const std::string& token_bytes(TokenId id) const;

  /// All the tokens' bytes in a row, control tokens' text too.
  [[nodiscard]] std::string decode(const std::vector<TokenId>& ids) const;

  /// Whether the token is a mark for the model (control, unknown, unused), not text for the user.
  [[nodiscard]] bool is_control(TokenId id) const;

  /// The id of a token by its text in the vocabulary ("<|im_end|>"), if there is one.
  [[nodiscard]] std::optional<TokenId> find(std::string_view token) const;

  /// The byte values no token stands for, as a string; often control characters. "" in a complete vocabulary.
  [[nodiscard]] const std::string& missing_bytes() const noexcept;

  [[nodiscard]] std::size_t size() const noexcept;
  [[nodiscard]] bool adds_bos() const noexcept;
  [[nodiscard]] std::optional<TokenId> bos() const noexcept;
  [[nodiscard]] std::optional<TokenId> eos() const noexcept;

 private:
  struct Tables;
  class Encoding;
  explicit Tokenizer(std::shared_ptr<const Tables> tables);
  [[nodiscard]] static Result<void> check_length(std::size_t length);

  // Shared: a model, its lanes and their detokenizers all read the same tables.
  std::shared_ptr<const Tables> tables_;
};

}  // namespace weir::llm
