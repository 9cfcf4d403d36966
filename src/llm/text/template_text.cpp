#include "llm/text/template_text.h"

#include <cstddef>

namespace weir::llm {
namespace {

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}
bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Reads a template from front to back; `text_` is what is left.
class Normaliser {
 public:
  explicit Normaliser(std::string_view source) : text_(source) {
    if (!text_.empty() && text_.back() == '\n')
      text_.remove_suffix(1);  // the language drops the last newline
  }

  std::string run() && {
    while (!text_.empty()) {
      const std::size_t tag = next_tag();
      std::string_view plain = text_.substr(0, tag);
      text_.remove_prefix(plain.size());
      add_plain(plain);
      if (!text_.empty()) add_tag();
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t next_tag() const {
    std::size_t at = text_.find('{');
    while (at != std::string_view::npos) {
      const char kind = at + 1 < text_.size() ? text_[at + 1] : ' ';
      if (kind == '{' || kind == '%' || kind == '#') return at;
      at = text_.find('{', at + 1);
    }
    return text_.size();
  }

  // Text between tags; `text_` begins with the tag after it.
  void add_plain(std::string_view plain) {
    if (cut_left_) {
      while (!plain.empty() && is_blank(plain.front()))
        plain.remove_prefix(1);
    } else if (after_block_ && !plain.empty() && plain.front() == '\n') {
      plain.remove_prefix(1);
    }
    if (text_.size() > 2 && text_[2] == '-') {
      while (!plain.empty() && is_blank(plain.back()))
        plain.remove_suffix(1);
    } else if (!text_.empty() && text_[1] != '{') {
      const std::size_t line = plain.find_last_not_of(" \t");
      const bool starts_line = line == std::string_view::npos ? starts_line_ : plain[line] == '\n';
      if (starts_line) plain = plain.substr(0, line == std::string_view::npos ? 0 : line + 1);
    }
    out_ += plain;
  }

  void add_tag() {
    const char kind = text_[1];
    const std::string_view close = kind == '{' ? "}}" : kind == '%' ? "%}" : "#}";
    text_.remove_prefix(2);
    if (!text_.empty() && text_.front() == '-') text_.remove_prefix(1);
    if (kind != '#') out_.append(1, '{').append(1, kind);
    const bool cut = kind == '#' ? skip_comment() : add_words(close);
    if (kind != '#') out_ += close;
    cut_left_ = cut;
    after_block_ = kind != '{';
    starts_line_ = after_block_ && !text_.empty() && text_.front() == '\n';
  }

  // Both return whether the tag ends with "-" before the closing marks, and read past those.
  bool skip_comment() {
    const std::size_t end = text_.find("#}");
    if (end == std::string_view::npos) {
      text_ = {};
      return false;
    }
    const bool cut = end > 0 && text_[end - 1] == '-';
    text_.remove_prefix(end + 2);
    return cut;
  }

  bool add_words(std::string_view close) {
    while (!text_.empty()) {
      if (text_.substr(0, 2) == close) {
        text_.remove_prefix(2);
        return false;
      }
      if (text_.front() == '-' && text_.substr(1, 2) == close) {
        text_.remove_prefix(3);
        return true;
      }
      add_word();
    }
    return false;
  }

  void add_word() {
    const char c = text_.front();
    if (is_blank(c)) {
      text_.remove_prefix(1);
    } else if (c == '\'' || c == '"') {
      text_.remove_prefix(1);
      add_string(c);
    } else if (c == '[' && add_member()) {
      return;
    } else if (is_word(c)) {
      if (is_word(out_.back())) out_ += ' ';
      while (!text_.empty() && is_word(text_.front())) {
        out_ += text_.front();
        text_.remove_prefix(1);
      }
    } else {
      out_ += c;
      text_.remove_prefix(1);
    }
  }

  // ['name'] as .name
  bool add_member() {
    const char quote = text_.size() > 1 ? text_[1] : ' ';
    if (quote != '\'' && quote != '"') return false;
    std::size_t end = 2;
    while (end < text_.size() && is_word(text_[end]))
      ++end;
    if (end == 2 || end + 1 >= text_.size() || text_[end] != quote || text_[end + 1] != ']') return false;
    out_.append(1, '.').append(text_.substr(2, end - 2));
    text_.remove_prefix(end + 2);
    return true;
  }

  void add_string(char quote) {
    out_ += '\'';
    while (!text_.empty() && text_.front() != quote) {
      char c = text_.front();
      text_.remove_prefix(1);
      if (c == '\\' && !text_.empty()) {
        c = text_.front();
        text_.remove_prefix(1);
        if (c == 'n') {
          c = '\n';
        } else {
          out_ += '\\';
        }
      } else if (c == '\'') {
        out_ += '\\';  // inside "…"; inside '…' it would have been written so
      }
      out_ += c;
    }
    out_ += '\'';
    if (!text_.empty()) text_.remove_prefix(1);
  }

  std::string_view text_;
  std::string out_;
  bool cut_left_ = false;     // the last tag ended with "-"
  bool after_block_ = false;  // the last tag was a block or a comment
  bool starts_line_ = true;   // the plain text after the last tag starts a line
};

}  // namespace

std::string normalised_template(std::string_view source) {
  return Normaliser(source).run();
}

}  // namespace weir::llm
