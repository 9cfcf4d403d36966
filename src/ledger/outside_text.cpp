#include "ledger/outside_text.h"

#include <cstdint>

namespace weir::ledger {
namespace {

/// How many bytes the character takes that begins with `lead`; 0: none does.
std::size_t length_of(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead < 0xe0) return 2;
  if (lead >= 0xe0 && lead < 0xf0) return 3;
  if (lead >= 0xf0 && lead < 0xf5) return 4;
  return 0;
}

bool is_shown(std::uint32_t code, std::size_t length) {
  constexpr std::uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return !is_control && !is_surrogate && code >= kSmallest[length] && code < 0x110000;
}

/// The length of the fit character at the start of `text`, or 0.
std::size_t fit_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = length_of(lead);
  if (length == 0 || length > text.size()) return 0;
  std::uint32_t code = length == 1 ? lead : lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0) != 0x80) return 0;
    code = code << 6 | (next & 0x3fu);
  }
  return is_shown(code, length) ? length : 0;
}

}  // namespace

std::string fit_for_output(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = fit_length(text);
    out += length == 0 ? std::string_view("?") : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace weir::ledger
