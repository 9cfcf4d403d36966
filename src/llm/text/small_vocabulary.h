#pragma once

#include <cstdint>

#include "llm/text/byte_level.h"
#include "llm/text/vocabulary.h"

namespace weir::llm {

/// For tests and fuzzers: the 256 bytes (id = byte), a few merges ("he" 256, "ll" 257, "hell" 258, "hello"
/// 259, " hello" 260, "aa" 261, "aaaa" 262), the user-defined "<tag>" 263 and "<tag>s" 264, and the control
/// tokens
/// "<|im_start|>" 265 and "<|im_end|>" 266.
[[nodiscard]] inline Vocabulary small_vocabulary() {
  Vocabulary vocabulary;
  vocabulary.model = "gpt2";
  vocabulary.pre = "smollm";
  for (int byte = 0; byte < 256; ++byte)
    vocabulary.tokens.push_back(byte_letter(static_cast<std::uint8_t>(byte)));
  vocabulary.merges = {"h e", "l l", "he ll", "hell o", "Ġ hello", "a a", "aa aa"};
  for (const char* token : {"he", "ll", "hell", "hello", "Ġhello", "aa", "aaaa"})
    vocabulary.tokens.emplace_back(token);
  vocabulary.types.assign(vocabulary.tokens.size(), static_cast<std::int32_t>(TokenType::kNormal));
  const auto add = [&vocabulary](const char* token, TokenType type) {
    vocabulary.tokens.emplace_back(token);
    vocabulary.types.push_back(static_cast<std::int32_t>(type));
  };
  add("<tag>", TokenType::kUserDefined);
  add("<tag>s", TokenType::kUserDefined);
  add("<|im_start|>", TokenType::kControl);
  add("<|im_end|>", TokenType::kControl);
  vocabulary.bos = 265;
  vocabulary.eos = 266;
  return vocabulary;
}

}  // namespace weir::llm
