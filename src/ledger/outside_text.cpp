#include "ledger/outside_text.h"

#include "base/utf8.h"

namespace weir::ledger {
namespace {

/// Of a valid character: U+0000 to U+001F, U+007F to U+009F.
bool is_control(std::string_view character) {
  const auto lead = static_cast<unsigned char>(character[0]);
  if (character.size() == 2) return lead == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0;
  return lead < 0x20 || lead == 0x7f;
}

/// The length of the fit character at the start of `text`, or 0.
std::size_t fit_length(std::string_view text) {
  const Utf8Step step = first_utf8(text);
  return step.kind == Utf8Kind::kValid && !is_control(text.substr(0, step.length)) ? step.length : 0;
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
