#include "llm/text/gguf_vocabulary.h"

namespace weir::llm {
namespace {

template <class T>
void keep_first(std::optional<Error>& error, const Result<T>& result) {
  if (!result && !error) error = result.error();
}

}  // namespace

Result<Vocabulary> vocabulary_from(const GgufFile& file) {
  Vocabulary vocabulary;
  std::optional<Error> error;
  const auto list = [&](const auto& found, auto& target) {
    keep_first(error, found);
    if (found) target.assign(found->begin(), found->end());
  };
  const auto text = [&](std::string_view key, auto& target) {
    const auto found = file.string(key);
    keep_first(error, found);
    if (found) target = std::string(*found);
  };
  const auto id = [&](std::string_view key, std::optional<std::int32_t>& target) {
    if (!file.has(key)) return;
    const auto found = file.u32(key);
    keep_first(error, found);
    if (!found) return;
    // An id beyond the type is beyond every vocabulary; -1 is refused by Tokenizer::create.
    target = *found <= 0x7FFFFFFFU ? static_cast<std::int32_t>(*found) : -1;
  };
  text("tokenizer.ggml.model", vocabulary.model);
  list(file.strings("tokenizer.ggml.tokens"), vocabulary.tokens);
  list(file.i32s("tokenizer.ggml.token_type"), vocabulary.types);
  // Other tokenizers have no such keys; Tokenizer::create refuses those by name.
  if (vocabulary.model == "gpt2") {
    text("tokenizer.ggml.pre", vocabulary.pre);
    list(file.strings("tokenizer.ggml.merges"), vocabulary.merges);
  }
  id("tokenizer.ggml.bos_token_id", vocabulary.bos);
  id("tokenizer.ggml.eos_token_id", vocabulary.eos);
  if (file.has("tokenizer.ggml.add_bos_token")) {
    const auto found = file.boolean("tokenizer.ggml.add_bos_token");
    keep_first(error, found);
    if (found) vocabulary.add_bos = *found;
  }
  if (file.has("tokenizer.chat_template"))
    text("tokenizer.chat_template", vocabulary.chat_template.emplace());
  if (error) return tl::unexpected(std::move(*error));
  return vocabulary;
}

}  // namespace weir::llm
