#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace weir::llm {

/// The visible letter that byte-level vocabularies write for a byte, as UTF-8: printable Latin-1 bytes are
/// themselves, the other 68 are U+0100 onwards in byte order (a space is "Ġ", a newline "Ċ").
[[nodiscard]] const std::string& byte_letter(std::uint8_t byte);

/// The bytes a byte-level text stands for; nullopt if one of its characters is no byte's letter.
[[nodiscard]] std::optional<std::string> bytes_of_letters(std::string_view letters);

/// The byte-level text of some bytes.
[[nodiscard]] std::string letters_of_bytes(std::string_view bytes);

}  // namespace weir::llm
