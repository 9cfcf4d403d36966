#include "llm/text/tokenizer.h"

#include <utility>

#include "base/byte_text.h"
#include "base/check.h"
#include "base/utf8.h"
#include "llm/text/byte_level.h"
#include "llm/text/tokenizer_tables.h"

namespace weir::llm {
namespace {

// The length of the valid UTF-8 that the text begins with.
std::size_t valid_prefix(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const Utf8Step step = first_utf8(text.substr(length));
    if (step.kind != Utf8Kind::kValid) break;
    length += step.length;
  }
  return length;
}

}  // namespace

// One text on its way to ids.
class Tokenizer::Encoding {
 public:
  explicit Encoding(const Tables& tables) : tables_(tables) {
    if (tables.adds_bos) ids_.push_back(*tables.bos);
  }

  Result<void> add(std::string_view text, bool parse_special) {
    const MarkedTokens& marked = parse_special ? tables_.with_control : tables_.always;
    std::size_t done = 0;
    while (done < text.size()) {
      const auto hit = marked.find(text, done);
      const std::size_t end = hit ? hit->begin : text.size();
      if (auto plain = add_plain(text.substr(done, end - done)); !plain) return plain;
      if (!hit) break;
      ids_.push_back(hit->id);
      done = hit->begin + hit->length;
    }
    return {};
  }

  std::vector<TokenId> take() && { return std::move(ids_); }

 private:
  // Text without marked tokens. A byte that is no UTF-8 is a word of its own.
  Result<void> add_plain(std::string_view text) {
    const auto word = [this](std::string_view bytes) { add_word(bytes); };
    while (!text.empty()) {
      const std::size_t valid = valid_prefix(text);
      if (auto done = tables_.pre_tokenizer.split(text.substr(0, valid), word); !done) return done;
      text.remove_prefix(valid);
      if (text.empty()) break;
      add_word(text.substr(0, 1));
      text.remove_prefix(1);
    }
    return {};
  }

  void add_word(std::string_view bytes) {
    if (tables_.pre_tokenizer.keeps_whole_words()) {
      const auto whole = tables_.ids.find(letters_of_bytes(bytes));
      if (whole != tables_.ids.end()) {
        ids_.push_back(whole->second);
        return;
      }
    }
    word_.clear();
    for (const char byte : bytes) {
      const TokenId id = tables_.byte_ids[static_cast<std::uint8_t>(byte)];
      if (id >= 0) word_.push_back(id);
    }
    tables_.pairs.merge(word_, scratch_, ids_);
  }

  const Tables& tables_;
  std::vector<TokenId> ids_;
  std::vector<TokenId> word_;
  BytePairs::Scratch scratch_;
};

Tokenizer::Tokenizer(std::shared_ptr<const Tables> tables) : tables_(std::move(tables)) {}

Result<Tokenizer> Tokenizer::create(Vocabulary vocabulary) {
  auto tables = Tables::create(std::move(vocabulary));
  if (!tables) return tl::unexpected(std::move(tables.error()));
  return Tokenizer(std::make_shared<const Tables>(std::move(*tables)));
}

Result<std::vector<TokenId>> Tokenizer::encode(std::string_view utf8, bool parse_special) const {
  if (auto fits = check_length(utf8.size()); !fits) return tl::unexpected(std::move(fits.error()));
  Encoding encoding(*tables_);
  if (auto done = encoding.add(utf8, parse_special); !done) return tl::unexpected(std::move(done.error()));
  return std::move(encoding).take();
}

Result<std::vector<TokenId>> Tokenizer::encode(const std::vector<TextPart>& parts) const {
  std::size_t length = 0;
  for (const TextPart& part : parts)
    length += part.text.size();
  if (auto fits = check_length(length); !fits) return tl::unexpected(std::move(fits.error()));
  Encoding encoding(*tables_);
  for (const TextPart& part : parts) {
    auto done = encoding.add(part.text, part.parse_special);
    if (!done) return tl::unexpected(std::move(done.error()));
  }
  return std::move(encoding).take();
}

Result<void> Tokenizer::check_length(std::size_t length) {
  if (length <= kMaxInputBytes) return {};
  return fail(ErrorKind::kBadData, "prompt",
              "longer than " + with_commas(std::int64_t{kMaxInputBytes}) +
                  " bytes: " + with_commas(static_cast<std::int64_t>(length)) + "; send a shorter one");
}

const std::string& Tokenizer::token_bytes(TokenId id) const {
  WEIR_CHECK(id >= 0 && static_cast<std::size_t>(id) < size());
  return tables_->bytes[static_cast<std::size_t>(id)];
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids) const {
  std::string text;
  for (const TokenId id : ids)
    text += token_bytes(id);
  return text;
}

bool Tokenizer::is_control(TokenId id) const {
  WEIR_CHECK(id >= 0 && static_cast<std::size_t>(id) < size());
  const auto type = static_cast<TokenType>(tables_->types[static_cast<std::size_t>(id)]);
  return type != TokenType::kNormal && type != TokenType::kUserDefined;
}

std::optional<TokenId> Tokenizer::find(std::string_view token) const {
  const auto found = tables_->ids.find(token);
  if (found == tables_->ids.end()) return std::nullopt;
  return found->second;
}

const std::string& Tokenizer::missing_bytes() const noexcept {
  return tables_->missing_bytes;
}
std::size_t Tokenizer::size() const noexcept {
  return tables_->bytes.size();
}
bool Tokenizer::adds_bos() const noexcept {
  return tables_->adds_bos;
}
std::optional<TokenId> Tokenizer::bos() const noexcept {
  return tables_->bos;
}
std::optional<TokenId> Tokenizer::eos() const noexcept {
  return tables_->eos;
}

}  // namespace weir::llm
