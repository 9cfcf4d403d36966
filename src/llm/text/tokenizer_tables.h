#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "llm/text/byte_pairs.h"
#include "llm/text/marked_tokens.h"
#include "llm/text/pre_tokenizer.h"
#include "llm/text/tokenizer.h"
#include "llm/text/vocabulary.h"

namespace weir::llm {

/// A checked vocabulary in the form the tokenizer reads. Immutable once made.
struct Tokenizer::Tables {
  /// See Tokenizer::create.
  [[nodiscard]] static Result<Tables> create(Vocabulary vocabulary);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>()(text);
    }
  };

  std::vector<std::string> bytes;                                       ///< By id: what the token stands for.
  std::vector<std::uint8_t> types;                                      ///< By id: a TokenType.
  std::unordered_map<std::string, TokenId, Hash, std::equal_to<>> ids;  ///< By the vocabulary's own text.
  std::array<TokenId, 256> byte_ids{};                                  ///< -1: no token.
  std::string missing_bytes;
  BytePairs pairs;
  MarkedTokens always;        ///< User-defined tokens.
  MarkedTokens with_control;  ///< Those and the control tokens.
  PreTokenizer pre_tokenizer;
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  bool adds_bos = false;

 private:
  explicit Tables(PreTokenizer pre) : pre_tokenizer(std::move(pre)) {}
  [[nodiscard]] Result<void> take_tokens(Vocabulary& vocabulary);
  [[nodiscard]] Result<void> take_token(TokenId id, std::string text, std::int32_t type);
  [[nodiscard]] Result<void> take_bytes();
  [[nodiscard]] Result<void> take_merges(const std::vector<std::string>& merges);
  [[nodiscard]] Result<void> take_merge(std::size_t index, std::string_view merge);
  [[nodiscard]] Result<void> take_ends(const Vocabulary& vocabulary);
};

}  // namespace weir::llm
