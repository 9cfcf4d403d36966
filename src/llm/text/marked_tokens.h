#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace weir::llm {

/// Finds whole tokens (control marks, user-defined words) in a text before it is cut into words.
/// Of tokens that begin at the same place the longest wins.
class MarkedTokens {
 public:
  MarkedTokens();

  /// Ignores an empty text.
  void add(std::string_view text, std::int32_t id);

  struct Hit {
    std::size_t begin;
    std::size_t length;
    std::int32_t id;
  };

  /// The first token at or after `from`.
  [[nodiscard]] std::optional<Hit> find(std::string_view text, std::size_t from) const;

 private:
  struct Node {
    std::vector<std::pair<char, std::uint32_t>> next;  // few, in no order
    std::int32_t id = -1;                              // of the token that ends here
  };

  [[nodiscard]] std::optional<std::uint32_t> child(std::uint32_t node, char byte) const;
  [[nodiscard]] Hit longest_at(std::string_view text, std::size_t begin) const;

  std::vector<Node> nodes_;
  std::array<bool, 256> begins_{};
};

}  // namespace weir::llm
