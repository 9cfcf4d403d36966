// weir_tokenize MODEL [PRE]: the ids weir gives, for a comparison with another tokenizer.
// PRE stands in for the model file's own pre-tokenizer.
// Reads texts from stdin until its end, each as "<plain|special> <bytes>\n" and then that many bytes.
// Answers each with one line of ids and one line of the hexadecimal bytes they decode to.
#include <cstdio>
#include <iostream>
#include <string>

#include "base/error.h"
#include "llm/gguf/reader.h"
#include "llm/text/gguf_vocabulary.h"
#include "llm/text/tokenizer.h"

namespace {

using weir::value_or_throw;
using weir::llm::Tokenizer;

Tokenizer tokenizer_of(const char* model, const char* pre) {
  const auto file = value_or_throw(weir::llm::GgufFile::open(model));
  auto vocabulary = value_or_throw(weir::llm::vocabulary_from(file));
  if (pre != nullptr) {
    vocabulary.pre = pre;
    vocabulary.add_bos = false;
  }
  return value_or_throw(Tokenizer::create(std::move(vocabulary)));
}

void answer(const Tokenizer& tokenizer, const std::string& text, bool parse_special) {
  const auto ids = value_or_throw(tokenizer.encode(text, parse_special));
  for (const auto id : ids)
    std::cout << id << ' ';
  std::cout << '\n';
  constexpr const char* kDigits = "0123456789abcdef";
  for (const char byte : tokenizer.decode(ids)) {
    const auto value = static_cast<unsigned char>(byte);
    std::cout << kDigits[value >> 4] << kDigits[value & 15];
  }
  std::cout << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::cerr << "usage: weir_tokenize MODEL [PRE] < texts\n";
    return 64;
  }
  try {
    std::ios::sync_with_stdio(false);
    const Tokenizer tokenizer = tokenizer_of(argv[1], argc == 3 ? argv[2] : nullptr);
    std::string mode;
    std::size_t length = 0;
    while (std::cin >> mode >> length && std::cin.get() == '\n') {
      std::string text(length, '\0');
      if (!std::cin.read(text.data(), static_cast<std::streamsize>(length))) return 65;
      answer(tokenizer, text, mode == "special");
    }
    return 0;
  } catch (const weir::Failure& failure) {
    std::cerr << "weir_tokenize: " << failure.what() << '\n';
    return weir::exit_code(failure.error().kind);
  }
}
