#include "llm/text/marked_tokens.h"

namespace weir::llm {

MarkedTokens::MarkedTokens() : nodes_(1) {}

std::optional<std::uint32_t> MarkedTokens::child(std::uint32_t node, char byte) const {
  for (const auto& [label, target] : nodes_[node].next) {
    if (label == byte) return target;
  }
  return std::nullopt;
}

void MarkedTokens::add(std::string_view text, std::int32_t id) {
  if (text.empty()) return;
  begins_[static_cast<std::uint8_t>(text[0])] = true;
  std::uint32_t node = 0;
  for (const char byte : text) {
    auto next = child(node, byte);
    if (!next) {
      next = static_cast<std::uint32_t>(nodes_.size());
      nodes_[node].next.emplace_back(byte, *next);
      nodes_.emplace_back();
    }
    node = *next;
  }
  nodes_[node].id = id;
}

MarkedTokens::Hit MarkedTokens::longest_at(std::string_view text, std::size_t begin) const {
  Hit best{begin, 0, -1};
  std::uint32_t node = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const auto next = child(node, text[at]);
    if (!next) break;
    node = *next;
    if (nodes_[node].id >= 0) best = {begin, at + 1 - begin, nodes_[node].id};
  }
  return best;
}

std::optional<MarkedTokens::Hit> MarkedTokens::find(std::string_view text, std::size_t from) const {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!begins_[static_cast<std::uint8_t>(text[at])]) continue;
    const Hit hit = longest_at(text, at);
    if (hit.length > 0) return hit;
  }
  return std::nullopt;
}

}  // namespace weir::llm
