#include "llm/text/byte_level.h"

#include <array>

#include "base/utf8.h"

namespace weir::llm {
namespace {

constexpr std::size_t kLetters = 256 + 68;  // code points below this may be letters

struct Alphabet {
  std::array<std::string, 256> letter;
  std::array<int, kLetters> byte;  // by code point; -1: no letter
};

bool is_its_own_letter(int byte) {
  return (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
}

Alphabet make_alphabet() {
  Alphabet alphabet;
  alphabet.byte.fill(-1);
  char32_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t letter = is_its_own_letter(byte) ? static_cast<char32_t>(byte) : next++;
    append_utf8(letter, alphabet.letter[static_cast<std::size_t>(byte)]);
    alphabet.byte[letter] = byte;
  }
  return alphabet;
}

const Alphabet& alphabet() {
  static const Alphabet instance = make_alphabet();
  return instance;
}

}  // namespace

const std::string& byte_letter(std::uint8_t byte) {
  return alphabet().letter[byte];
}

std::optional<std::string> bytes_of_letters(std::string_view letters) {
  std::string bytes;
  bytes.reserve(letters.size());
  while (!letters.empty()) {
    const Utf8Step step = first_utf8(letters);
    // Every letter is below U+0800, so one or two bytes long.
    if (step.kind != Utf8Kind::kValid || step.length > 2) return std::nullopt;
    const auto first = static_cast<std::uint8_t>(letters[0]);
    std::size_t code_point = first;
    if (step.length == 2) code_point = (first & 0x1FU) << 6 | (static_cast<std::uint8_t>(letters[1]) & 0x3FU);
    if (code_point >= kLetters || alphabet().byte[code_point] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(alphabet().byte[code_point]));
    letters.remove_prefix(step.length);
  }
  return bytes;
}

std::string letters_of_bytes(std::string_view bytes) {
  std::string letters;
  letters.reserve(2 * bytes.size());
  for (const char byte : bytes)
    letters += byte_letter(static_cast<std::uint8_t>(byte));
  return letters;
}

}  // namespace weir::llm
