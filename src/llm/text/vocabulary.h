#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weir::llm {

/// What a model file says about its tokenizer, as plain data; nothing here is checked yet.
/// `Tokenizer::create` checks it.
struct Vocabulary {
  std::vector<std::string> tokens;  ///< By id. Byte-level text for normal tokens, plain UTF-8 for the others.
  std::vector<std::int32_t> types;  ///< TokenType by id; same length as `tokens`.
  std::vector<std::string> merges;  ///< "left right", the best first.
  std::string model;                ///< The algorithm; "gpt2" is byte-level BPE.
  std::string pre;  ///< The pre-tokenizer's name; see text/pre_tokenizer.cpp for the known ones.
  std::optional<std::int32_t> bos;
  std::optional<std::int32_t> eos;
  /// Whether a prompt starts with `bos`; nullopt: as usual for the pre-tokenizer's models.
  std::optional<bool> add_bos;
  std::optional<std::string> chat_template;
};

/// The numbers GGUF uses in `tokenizer.ggml.token_type`.
enum class TokenType : std::int32_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6,
};

}  // namespace weir::llm
