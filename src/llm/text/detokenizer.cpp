#include "llm/text/detokenizer.h"

#include <utility>

#include "base/utf8.h"

namespace weir::llm {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace

Detokenizer::Detokenizer(Tokenizer tokenizer, Control control)
    : tokenizer_(std::move(tokenizer)), control_(control) {}

std::string Detokenizer::push(TokenId id) {
  if (control_ == Control::kSkip && tokenizer_.is_control(id)) return {};
  held_ += tokenizer_.token_bytes(id);
  std::string text;
  std::string_view rest = held_;
  while (!rest.empty()) {
    const Utf8Step step = first_utf8(rest);
    if (step.kind == Utf8Kind::kIncomplete) break;
    text += step.kind == Utf8Kind::kValid ? rest.substr(0, step.length) : kReplacement;
    rest.remove_prefix(step.length);
  }
  held_ = std::string(rest);
  return text;
}

std::string Detokenizer::flush() {
  const bool holds = !held_.empty();
  held_.clear();
  return std::string(holds ? kReplacement : std::string_view());
}

}  // namespace weir::llm
