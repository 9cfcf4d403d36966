#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "llm/text/detokenizer.h"
#include "llm/text/small_vocabulary.h"
#include "llm/text/tokenizer.h"

// Any bytes come back from encode and decode as they were; what is shown of them is valid text.
// The first byte picks the pre-tokenizer and whether control tokens are parsed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using weir::llm::Tokenizer;
  static const auto make = [](const char* pre) {
    auto vocabulary = weir::llm::small_vocabulary();
    vocabulary.pre = pre;
    vocabulary.add_bos = false;
    return Tokenizer::create(std::move(vocabulary)).value();
  };
  static const Tokenizer tokenizers[] = {make("smollm"), make("gpt-2"), make("llama-bpe")};
  if (size == 0) return 0;
  const Tokenizer& tokenizer = tokenizers[data[0] % 3];
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto ids = tokenizer.encode(text, (data[0] & 0x80) != 0).value();
  if (tokenizer.decode(ids) != text) std::abort();
  weir::llm::Detokenizer stream(tokenizer, weir::llm::Detokenizer::Control::kShow);
  std::string shown;
  for (const auto id : ids)
    shown += stream.push(id);
  shown += stream.flush();
  // What is shown is valid, so encoding it again and showing that changes nothing.
  std::string again;
  const auto ids_again = tokenizer.encode(shown, false).value();
  for (const auto id : ids_again)
    again += stream.push(id);
  if (again + stream.flush() != shown) std::abort();
  return 0;
}
