#include "llm/text/pre_tokenizer.h"

#include <array>
#include <string>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/check.h"

namespace weir::llm {
namespace {

// White_Space of Unicode. The engine's own \s also has U+180E, which is no white space since Unicode 6.3.
#define WEIR_SPACES                                                                                        \
  "\\x{9}-\\x{D}\\x{20}\\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}\\x{205F}\\x{" \
  "3000}"
#define WEIR_S "[" WEIR_SPACES "]"
#define WEIR_NOT_S "[^" WEIR_SPACES "]"

constexpr const char* kEachDigit = "\\p{N}";

constexpr const char* kGpt2 =
    "'s|'t|'re|'ve|'m|'ll|'d"
    "| ?\\p{L}+"
    "| ?\\p{N}+"
    "| ?[^" WEIR_SPACES
    "\\p{L}\\p{N}]+"
    "|" WEIR_S "+(?!" WEIR_NOT_S
    ")"
    "|" WEIR_S "+";

constexpr const char* kLlama3 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+"
    "|\\p{N}{1,3}"
    "| ?[^" WEIR_SPACES
    "\\p{L}\\p{N}]+[\\r\\n]*"
    "|" WEIR_S
    "*[\\r\\n]+"
    "|" WEIR_S "+(?!" WEIR_NOT_S
    ")"
    "|" WEIR_S "+";

#undef WEIR_NOT_S
#undef WEIR_S
#undef WEIR_SPACES

struct Row {
  std::string_view name;
  std::array<const char*, 2> steps;  // patterns, applied one within the other's pieces
  bool keeps_whole_words;
  bool usually_adds_bos;
};

constexpr Row kRows[] = {
    {"smollm", {kEachDigit, kGpt2}, false, false},
    {"gpt-2", {kGpt2, nullptr}, false, false},
    {"llama-bpe", {kLlama3, nullptr}, true, true},
};

std::string known_names() {
  std::string names;
  for (const Row& row : kRows)
    names.append(names.empty() ? "" : ", ").append(row.name);
  return names;
}

// Blanks before a word make llama-bpe's pattern go back once for each blank, so the bound grows with the
// longest text the tokenizer takes.
constexpr std::uint32_t kMatchLimit = 256U << 20;

}  // namespace

class PreTokenizer::Pattern {
 public:
  explicit Pattern(const char* pattern) {
    int code = 0;
    PCRE2_SIZE offset = 0;
    code_ = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP,
                          &code, &offset, nullptr);
    WEIR_CHECK(code_ != nullptr);
    // Where the system allows no code made at run time this fails, and matching interprets the pattern.
    (void)pcre2_jit_compile(code_, PCRE2_JIT_COMPLETE);
    limits_ = pcre2_match_context_create(nullptr);
    WEIR_CHECK(limits_ != nullptr);
    pcre2_set_match_limit(limits_, kMatchLimit);
  }
  ~Pattern() {
    pcre2_match_context_free(limits_);
    pcre2_code_free(code_);
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  struct MatchFree {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
  };
  using Match = std::unique_ptr<pcre2_match_data, MatchFree>;

  [[nodiscard]] Match match_data() const { return Match(pcre2_match_data_create(1, nullptr)); }

  // The next match at or after `start`: 1, none: 0, an error: negative.
  [[nodiscard]] int find(std::string_view utf8, std::size_t start, pcre2_match_data* match) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(utf8.data());
    int rc = pcre2_match(code_, subject, utf8.size(), start, PCRE2_NO_UTF_CHECK, match, limits_);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {
      rc = pcre2_match(code_, subject, utf8.size(), start, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, match, limits_);
    }
    return rc == PCRE2_ERROR_NOMATCH ? 0 : rc;
  }

 private:
  pcre2_code* code_ = nullptr;
  pcre2_match_context* limits_ = nullptr;
};

Result<PreTokenizer> PreTokenizer::create(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name != name) continue;
    PreTokenizer result;
    for (const char* pattern : row.steps) {
      if (pattern != nullptr) result.steps_.push_back(std::make_shared<const Pattern>(pattern));
    }
    result.keeps_whole_words_ = row.keeps_whole_words;
    result.usually_adds_bos_ = row.usually_adds_bos;
    return result;
  }
  return fail(
      ErrorKind::kBadData, "tokenizer.ggml.pre",
      "no such pre-tokenizer: '" + std::string(name) + "'; use a model with one of: " + known_names());
}

Result<void> PreTokenizer::split(std::string_view utf8,
                                 const std::function<void(std::string_view)>& word) const {
  return split_from(0, utf8, word);
}

Result<void> PreTokenizer::split_from(std::size_t step, std::string_view utf8,
                                      const std::function<void(std::string_view)>& word) const {
  if (utf8.empty()) return {};
  if (step == steps_.size()) {
    word(utf8);
    return {};
  }
  const Pattern& pattern = *steps_[step];
  const auto match = pattern.match_data();
  const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
  std::size_t done = 0;
  while (done < utf8.size()) {
    const int found = pattern.find(utf8, done, match.get());
    if (found < 0) {
      return fail(ErrorKind::kInternal, "tokenizer",
                  "the pattern engine gave up on a text of " + std::to_string(utf8.size()) +
                      " bytes with error " + std::to_string(found));
    }
    const std::size_t begin = found == 0 ? utf8.size() : bounds[0];
    const std::size_t end = found == 0 ? utf8.size() : bounds[1];
    if (auto gap = split_from(step + 1, utf8.substr(done, begin - done), word); !gap) return gap;
    if (auto hit = split_from(step + 1, utf8.substr(begin, end - begin), word); !hit) return hit;
    done = end;
  }
  return {};
}

}  // namespace weir::llm
