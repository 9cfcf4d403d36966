#include "llm/text/tokenizer_tables.h"

#include <limits>
#include <utility>

#include "llm/text/byte_level.h"

namespace weir::llm {
namespace {

tl::unexpected<Error> bad(std::string key, std::string message) {
  return fail(ErrorKind::kBadData, "tokenizer.ggml." + std::move(key),
              std::move(message) + "; get the model file again");
}

bool is_printable_ascii(int byte) {
  return byte >= 0x20 && byte < 0x7F;
}

}  // namespace

Result<Tokenizer::Tables> Tokenizer::Tables::create(Vocabulary vocabulary) {
  if (vocabulary.model != "gpt2") {
    return fail(ErrorKind::kBadData, "tokenizer.ggml.model",
                "no such tokenizer: '" + vocabulary.model +
                    "'; use a model with byte-level BPE, which is called gpt2");
  }
  auto pre = PreTokenizer::create(vocabulary.pre);
  if (!pre) return tl::unexpected(std::move(pre.error()));
  Tables tables(std::move(*pre));
  if (auto done = tables.take_tokens(vocabulary); !done) return tl::unexpected(std::move(done.error()));
  if (auto done = tables.take_bytes(); !done) return tl::unexpected(std::move(done.error()));
  if (auto done = tables.take_merges(vocabulary.merges); !done)
    return tl::unexpected(std::move(done.error()));
  if (auto done = tables.take_ends(vocabulary); !done) return tl::unexpected(std::move(done.error()));
  return tables;
}

Result<void> Tokenizer::Tables::take_tokens(Vocabulary& vocabulary) {
  const std::size_t count = vocabulary.tokens.size();
  if (vocabulary.types.size() != count) {
    return bad("token_type", "as many types as tokens are needed, but there are " +
                                 std::to_string(vocabulary.types.size()) + " for " + std::to_string(count));
  }
  if (count > static_cast<std::size_t>(std::numeric_limits<TokenId>::max())) {
    return bad("tokens", "more tokens than ids: " + std::to_string(count));
  }
  bytes.reserve(count);
  types.reserve(count);
  ids.reserve(count);
  for (std::size_t id = 0; id < count; ++id) {
    auto done = take_token(static_cast<TokenId>(id), std::move(vocabulary.tokens[id]), vocabulary.types[id]);
    if (!done) return done;
  }
  return {};
}

Result<void> Tokenizer::Tables::take_token(TokenId id, std::string text, std::int32_t type) {
  const auto kind = static_cast<TokenType>(type);
  if (kind < TokenType::kNormal || kind > TokenType::kUnused) {
    return bad("token_type", "not a type of byte-level tokens: " + std::to_string(type) + " for token " +
                                 std::to_string(id));
  }
  if (kind == TokenType::kNormal) {
    auto meaning = bytes_of_letters(text);
    if (!meaning)
      return bad("tokens", "not byte-level text: token " + std::to_string(id) + ", '" + text + "'");
    bytes.push_back(std::move(*meaning));
  } else {
    bytes.push_back(text);
  }
  if (kind == TokenType::kUserDefined) always.add(text, id);
  if (kind == TokenType::kUserDefined || kind == TokenType::kControl) with_control.add(text, id);
  types.push_back(static_cast<std::uint8_t>(type));
  const auto [entry, is_new] = ids.emplace(std::move(text), id);
  if (!is_new) {
    return bad("tokens", "the same token twice: '" + entry->first + "' is " + std::to_string(entry->second) +
                             " and " + std::to_string(id));
  }
  return {};
}

Result<void> Tokenizer::Tables::take_bytes() {
  for (int byte = 0; byte < 256; ++byte) {
    const auto found = ids.find(byte_letter(static_cast<std::uint8_t>(byte)));
    const bool has = found != ids.end() && types[static_cast<std::size_t>(found->second)] ==
                                               static_cast<std::uint8_t>(TokenType::kNormal);
    byte_ids[static_cast<std::size_t>(byte)] = has ? found->second : -1;
    if (has) continue;
    if (is_printable_ascii(byte)) {
      return bad("tokens",
                 "no token for byte " + std::to_string(byte) + ", '" + static_cast<char>(byte) + "'");
    }
    missing_bytes.push_back(static_cast<char>(byte));
  }
  return {};
}

Result<void> Tokenizer::Tables::take_merges(const std::vector<std::string>& merges) {
  for (std::size_t index = 0; index < merges.size(); ++index) {
    if (auto done = take_merge(index, merges[index]); !done) return done;
  }
  return {};
}

Result<void> Tokenizer::Tables::take_merge(std::size_t index, std::string_view merge) {
  const auto bad_merge = [&](const std::string& what) {
    return bad("merges", what + ": merge " + std::to_string(index) + ", '" + std::string(merge) + "'");
  };
  const std::size_t blank = merge.find(' ');
  if (blank == 0 || blank == std::string_view::npos || blank + 1 == merge.size()) {
    return bad_merge("not two tokens with a blank between");
  }
  const auto left = ids.find(merge.substr(0, blank));
  const auto right = ids.find(merge.substr(blank + 1));
  if (left == ids.end() || right == ids.end()) return bad_merge("a part that is no token");
  const auto whole = ids.find(left->first + right->first);
  if (whole == ids.end()) return bad_merge("a result that is no token");
  if (!pairs.add(left->second, right->second, whole->second)) return bad_merge("the same merge twice");
  return {};
}

Result<void> Tokenizer::Tables::take_ends(const Vocabulary& vocabulary) {
  const auto outside = [this](const std::optional<TokenId>& id) {
    return id && (*id < 0 || static_cast<std::size_t>(*id) >= bytes.size());
  };
  if (outside(vocabulary.bos))
    return bad("bos_token_id", "no such token: " + std::to_string(*vocabulary.bos));
  if (outside(vocabulary.eos))
    return bad("eos_token_id", "no such token: " + std::to_string(*vocabulary.eos));
  bos = vocabulary.bos;
  eos = vocabulary.eos;
  adds_bos = vocabulary.add_bos.value_or(pre_tokenizer.usually_adds_bos());
  if (adds_bos && !bos) return bad("bos_token_id", "needed at the start of each prompt, but there is none");
  return {};
}

}  // namespace weir::llm
