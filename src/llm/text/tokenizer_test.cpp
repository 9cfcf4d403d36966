#include "llm/text/tokenizer.h"

#include <clocale>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "llm/text/small_vocabulary.h"

namespace weir::llm {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tokenizer small_tokenizer(const std::string& pre = "smollm") {
  Vocabulary vocabulary = small_vocabulary();
  vocabulary.pre = pre;
  return Tokenizer::create(std::move(vocabulary)).value();
}

std::vector<TokenId> ids_of(const std::string& text, bool parse_special = false) {
  return small_tokenizer().encode(text, parse_special).value();
}

TEST(Tokenizer, MergesTheLowestRankFirstAndTheLeftmostOfEquals) {
  EXPECT_THAT(ids_of("hello"), ElementsAre(259));
  EXPECT_THAT(ids_of("hello hello"), ElementsAre(259, 260));
  EXPECT_THAT(ids_of("hell"), ElementsAre(258));
  EXPECT_THAT(ids_of("aaaaaaa"), ElementsAre(262, 261, 'a'));
  EXPECT_THAT(ids_of(""), ElementsAre());
}

TEST(Tokenizer, DoesNotMergeAcrossWords) {
  EXPECT_THAT(ids_of("he\nllo"), ElementsAre(256, '\n', 257, 'o'));
  EXPECT_THAT(ids_of("  hello"), ElementsAre(' ', 260));
}

TEST(Tokenizer, SmollmKeepsTheDigitAwayFromTheBlankBeforeIt) {
  Vocabulary vocabulary = small_vocabulary();
  vocabulary.tokens.insert(vocabulary.tokens.end(), {"Ġ1", "12"});
  vocabulary.types.insert(vocabulary.types.end(), {1, 1});
  vocabulary.merges.insert(vocabulary.merges.end(), {"Ġ 1", "1 2"});
  Vocabulary gpt2 = vocabulary;
  gpt2.pre = "gpt-2";
  EXPECT_THAT(Tokenizer::create(vocabulary)->encode("a 12", false).value(), ElementsAre('a', ' ', '1', '2'));
  EXPECT_THAT(Tokenizer::create(gpt2)->encode("a 12", false).value(), ElementsAre('a', 267, '2'));
}

TEST(Tokenizer, LlamaKeepsWordsThatAreTokensWholeAndStartsWithBos) {
  Vocabulary vocabulary = small_vocabulary();
  vocabulary.pre = "llama-bpe";
  vocabulary.tokens.emplace_back("xyz");
  vocabulary.types.push_back(1);
  const auto tokenizer = Tokenizer::create(std::move(vocabulary)).value();
  EXPECT_TRUE(tokenizer.adds_bos());
  EXPECT_THAT(tokenizer.encode("xyz", false).value(), ElementsAre(265, 267));
  EXPECT_THAT(tokenizer.encode({{"xyz", false}, {"xyz", false}}).value(), ElementsAre(265, 267, 267));
}

TEST(Tokenizer, RecognisesControlTokensOnlyWhenAskedAndUserTokensAlways) {
  EXPECT_THAT(ids_of("<|im_end|>", true), ElementsAre(266));
  EXPECT_THAT(ids_of("a<|im_start|><|im_end|>", true), ElementsAre('a', 265, 266));
  EXPECT_EQ(ids_of("<|im_end|>", false).size(), 10);
  EXPECT_THAT(ids_of("a<tag>s<tag>", false), ElementsAre('a', 264, 263));
  EXPECT_THAT(ids_of("<tag><tags<tag>", false), ElementsAre(263, '<', 't', 'a', 'g', 's', 263));
}

TEST(Tokenizer, BringsBackBytesThatAreNoUtf8) {
  const auto tokenizer = small_tokenizer();
  const std::string bytes("a\xFF\xC3\x28\xED\xA0\x80\xF0\x9F\x98\0hello\xE2", 17);
  const auto ids = tokenizer.encode(bytes, false).value();
  EXPECT_EQ(tokenizer.decode(ids), bytes);
  EXPECT_EQ(ids.size(), 13);
}

TEST(Tokenizer, RoundTripsRandomBytesWithEachPreTokenizer) {
  std::mt19937 random(7);
  const std::string letters = " \n\thelloa1'sST<tag>\xC3\xA9\xE2\x80\x89\xFF";
  for (const char* pre : {"smollm", "gpt-2", "llama-bpe"}) {
    const auto tokenizer = small_tokenizer(pre);
    for (int round = 0; round < 300; ++round) {
      std::string text;
      for (std::uint32_t i = random() % 40; i > 0; --i)
        text += letters[random() % letters.size()];
      const std::string bos = tokenizer.adds_bos() ? "<|im_start|>" : "";
      EXPECT_EQ(tokenizer.decode(tokenizer.encode(text, round % 2 == 0).value()), bos + text);
    }
  }
}

// With repeated scans this would take hours.
TEST(Tokenizer, EncodesAMegabyteOfOneLetter) {
  EXPECT_EQ(ids_of(std::string(1 << 20, 'a')).size(), (1 << 20) / 4);
}

TEST(Tokenizer, EncodesTheLongestTextOfBlanksAndRefusesALongerOne) {
  for (const char* pre : {"smollm", "llama-bpe"}) {
    const auto tokenizer = small_tokenizer(pre);
    const std::string blanks(Tokenizer::kMaxInputBytes - 1, ' ');
    EXPECT_EQ(tokenizer.encode(blanks + "x", false).value().size(),
              Tokenizer::kMaxInputBytes + (tokenizer.adds_bos() ? 1 : 0));
    const auto longer = tokenizer.encode(blanks + "xy", false);
    ASSERT_FALSE(longer);
    EXPECT_THAT(longer.error().message, HasSubstr("16,777,216"));
    EXPECT_FALSE(tokenizer.encode({{blanks, false}, {"xy", false}}));
  }
}

TEST(Tokenizer, LeavesOutBytesWithoutATokenAndSaysWhich) {
  Vocabulary vocabulary = small_vocabulary();
  vocabulary.tokens[4] = "unused";
  vocabulary.types[4] = static_cast<std::int32_t>(TokenType::kUnused);
  const auto tokenizer = Tokenizer::create(std::move(vocabulary)).value();
  EXPECT_EQ(tokenizer.missing_bytes(), "\x04");
  EXPECT_THAT(tokenizer.encode("a\x04z", false).value(), ElementsAre('a', 'z'));
}

TEST(Tokenizer, FindsTokensAndTellsMarksFromText) {
  const auto tokenizer = small_tokenizer();
  EXPECT_EQ(tokenizer.find("<|im_end|>"), 266);
  EXPECT_EQ(tokenizer.find("nothing"), std::nullopt);
  EXPECT_TRUE(tokenizer.is_control(266));
  EXPECT_FALSE(tokenizer.is_control(263));
  EXPECT_EQ(tokenizer.token_bytes(260), " hello");
  EXPECT_EQ(tokenizer.size(), 267);
  EXPECT_EQ(tokenizer.eos(), 266);
  EXPECT_ANY_THROW((void)tokenizer.token_bytes(267));
  EXPECT_ANY_THROW((void)tokenizer.is_control(-1));
}

TEST(Tokenizer, DoesNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const auto expected = ids_of("h\xC3\xA9llo\xC2\xA0hello");
  for (const char* locale : {"C", "C.UTF-8"}) {
    ASSERT_NE(std::setlocale(LC_ALL, locale), nullptr);
    EXPECT_EQ(ids_of("h\xC3\xA9llo\xC2\xA0hello"), expected);
  }
  std::setlocale(LC_ALL, before.c_str());
}

struct Refusal {
  const char* name;
  void (*spoil)(Vocabulary&);
  const char* says;
};

class TokenizerRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(TokenizerRefuses, ABadVocabularyByName) {
  Vocabulary vocabulary = small_vocabulary();
  GetParam().spoil(vocabulary);
  const auto tokenizer = Tokenizer::create(std::move(vocabulary));
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().kind, ErrorKind::kBadData);
  EXPECT_THAT(describe(tokenizer.error()), HasSubstr(GetParam().says));
}

constexpr Refusal kRefusals[] = {
    {"Model", [](Vocabulary& v) { v.model = "llama"; }, "no such tokenizer: 'llama'"},
    {"PreTokenizer", [](Vocabulary& v) { v.pre = "qwen2"; }, "no such pre-tokenizer: 'qwen2'"},
    {"NoPreTokenizer", [](Vocabulary& v) { v.pre = ""; }, "no such pre-tokenizer: ''"},
    {"Sizes", [](Vocabulary& v) { v.types.pop_back(); }, "266 for 267"},
    {"Type", [](Vocabulary& v) { v.types[5] = 6; }, "6 for token 5"},
    {"TypeOutOfRange", [](Vocabulary& v) { v.types[5] = 257; }, "257 for token 5"},
    {"Letters", [](Vocabulary& v) { v.tokens[260] = "a b"; }, "token 260, 'a b'"},
    {"Duplicate", [](Vocabulary& v) { v.tokens[257] = "he"; }, "'he' is 256 and 257"},
    {"MissingByte", [](Vocabulary& v) { v.tokens['q'] = "qq"; }, "no token for byte 113, 'q'"},
    {"MergeOfOne", [](Vocabulary& v) { v.merges[2] = "hell"; }, "merge 2, 'hell'"},
    {"MergeOfUnknown", [](Vocabulary& v) { v.merges[2] = "he yy"; },
     "a part that is no token: merge 2, 'he yy'"},
    {"MergeToUnknown", [](Vocabulary& v) { v.merges[2] = "ll he"; }, "a result that is no token: merge 2"},
    {"MergeTwice", [](Vocabulary& v) { v.merges[1] = "h e"; }, "the same merge twice: merge 1"},
    {"Bos", [](Vocabulary& v) { v.bos = -1; }, "[tokenizer.ggml.bos_token_id] no such token: -1"},
    {"Eos", [](Vocabulary& v) { v.eos = 267; }, "[tokenizer.ggml.eos_token_id] no such token: 267"},
    {"NoBos",
     [](Vocabulary& v) {
       v.bos.reset();
       v.add_bos = true;
     },
     "needed at the start of each prompt"},
};

INSTANTIATE_TEST_SUITE_P(Each, TokenizerRefuses, testing::ValuesIn(kRefusals),
                         [](const auto& refusal) { return std::string(refusal.param.name); });

}  // namespace
}  // namespace weir::llm
