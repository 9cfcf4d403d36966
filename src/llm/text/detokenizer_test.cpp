#include "llm/text/detokenizer.h"

#include <random>

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "llm/text/small_vocabulary.h"

namespace weir::llm {
namespace {

const std::string kMark = "\xEF\xBF\xBD";

Detokenizer detokenizer(Detokenizer::Control control = Detokenizer::Control::kSkip) {
  return Detokenizer(Tokenizer::create(small_vocabulary()).value(), control);
}

// Pushes the bytes one by one.
std::string shown(const std::string& bytes) {
  Detokenizer stream = detokenizer();
  std::string text;
  for (const char byte : bytes)
    text += stream.push(static_cast<std::uint8_t>(byte));
  return text + stream.flush();
}

TEST(Detokenizer, HoldsACharacterUntilItIsComplete) {
  Detokenizer stream = detokenizer();
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.push(0x98), "");
  EXPECT_EQ(stream.push(0x80), "\xF0\x9F\x98\x80");
  EXPECT_EQ(stream.push(260), " hello");
  EXPECT_EQ(stream.flush(), "");
}

TEST(Detokenizer, ShowsAnUnfinishedCharacterAtTheEndAsOneMark) {
  Detokenizer stream = detokenizer();
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.flush(), kMark);
  EXPECT_EQ(stream.flush(), "");
  EXPECT_EQ(stream.push('a'), "a");
}

// The rows of Unicode's tables 3-8 to 3-11, one mark for each maximal part.
TEST(Detokenizer, ReplacesIllFormedSequencesAsUnicodeRecommends) {
  EXPECT_EQ(shown("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"),
            kMark + kMark + kMark + kMark + kMark + kMark + kMark + kMark + "A");
  EXPECT_EQ(shown("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"),
            kMark + kMark + kMark + kMark + kMark + kMark + kMark + kMark + "A");
  EXPECT_EQ(shown("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"),
            kMark + kMark + kMark + kMark + kMark + "A" + kMark + kMark + "B");
  EXPECT_EQ(shown("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41"), kMark + kMark + kMark + kMark + "A");
}

TEST(Detokenizer, SkipsControlTokensUnlessAskedToShowThem) {
  Detokenizer skipping = detokenizer();
  EXPECT_EQ(skipping.push(266), "");
  EXPECT_EQ(skipping.push(263), "<tag>");
  Detokenizer showing = detokenizer(Detokenizer::Control::kShow);
  EXPECT_EQ(showing.push(266), "<|im_end|>");
}

TEST(Detokenizer, AlwaysReturnsWholeCharacters) {
  std::mt19937 random(11);
  const std::string bytes = "a\x80\xBF\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xED\xA0\xF4\x90";
  for (int round = 0; round < 500; ++round) {
    Detokenizer stream = detokenizer();
    for (int i = 0; i < 30; ++i) {
      const std::string text = stream.push(static_cast<std::uint8_t>(bytes[random() % bytes.size()]));
      for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(first_utf8(rest).length)) {
        ASSERT_EQ(first_utf8(rest).kind, Utf8Kind::kValid);
      }
    }
  }
}

TEST(Utf8, WritesEachCodePointAsOneValidCharacter) {
  for (char32_t code_point = 0; code_point <= 0x10FFFF; code_point += code_point < 0x3000 ? 1 : 61) {
    if (code_point >= 0xD800 && code_point <= 0xDFFF) continue;
    std::string text;
    append_utf8(code_point, text);
    const Utf8Step step = first_utf8(text);
    ASSERT_EQ(step.kind, Utf8Kind::kValid);
    ASSERT_EQ(step.length, text.size());
  }
}

}  // namespace
}  // namespace weir::llm
