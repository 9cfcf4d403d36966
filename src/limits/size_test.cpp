#include "limits/size.h"

#include <clocale>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::limits {
namespace {

using ::testing::HasSubstr;

__extension__ using Wide = __int128;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::int64_t bytes_of_text(std::string_view text, Knob knob = Knob::kCacheLimit) {
  const auto size = parse_size(text, knob, "--cache-limit");
  if (!size || !size->bytes) return -1;
  return *size->bytes;
}

struct Good {
  const char* text;
  std::int64_t bytes;
};

TEST(SizeGrammar, ReadsEveryUnitInExactBytes) {
  const Good good[] = {
      {"0", 0},
      {"1", 1},
      {"007", 7},
      {"512MB", 512'000'000},
      {"512MiB", 536'870'912},
      {"2GiB", 2 * kGiB},
      {"1.5g", 1'610'612'736},
      {" 64 MiB ", 67'108'864},
      {"\t64mib", 67'108'864},
      {"8 G", 8 * kGiB},
      {"1k", 1'024},
      {"1K", 1'024},
      {"1kB", 1'000},
      {"1KiB", 1'024},
      {"1m", 1'048'576},
      {"1MB", 1'000'000},
      {"1T", std::int64_t{1} << 40},
      {"1tIb", std::int64_t{1} << 40},
      {"1tb", 1'000'000'000'000},
      {"0.5K", 512},
      {"1.9999K", 2'047},
      {"0.0001K", 0},
      {"9223372036854775807", 9'223'372'036'854'775'807},
  };
  for (const Good& one : good)
    EXPECT_EQ(bytes_of_text(one.text), one.bytes) << one.text;
}

TEST(SizeGrammar, ReadsWordsInAnyCase) {
  EXPECT_EQ(parse_size("UNSET", Knob::kCacheLimit, "x")->mode, Mode::kUnset);
  EXPECT_EQ(parse_size(" Unlimited ", Knob::kMemoryLimit, "x")->mode, Mode::kUnlimited);
  EXPECT_EQ(parse_size("auto", Knob::kCacheLimit, "x")->mode, Mode::kAuto);
}

TEST(SizeGrammar, ReadsPercentagesWithTheirDenominator) {
  const auto size = parse_size("12.50 %Free", Knob::kCacheLimit, "x");
  ASSERT_TRUE(size);
  EXPECT_EQ(size->percentage, (Percentage{12, "5", "free"}));
  EXPECT_EQ(bytes_of(*size->percentage, 1001), 125);
  EXPECT_EQ(parse_size("250%model", Knob::kMemoryLimit, "x")->percentage, (Percentage{250, "", "model"}));
  EXPECT_EQ(parse_size("100.0%total", Knob::kMemoryLimit, "x")->percentage, (Percentage{100, "", "total"}));
}

TEST(SizeGrammar, RefusesEverythingElseNamingVariableTextAndExample) {
  const char* const bad[] = {"",           " ",         "8G B",   "-1",         "\"8GB\"",
                             "1e99",       "10%",       "abc",    "0x10",       "1_000",
                             "1,5G",       "nan",       "inf",    "NaN",        "+5",
                             "5.",         ".5g",       "1.5",    "8  G",       "512B",
                             "10% free",   "10%%",      "10%RAM", "1 .5g",      "1.5.5g",
                             "5PiB",       "autos",     "1\n",    "8\xc2\xa0G", "\xef\xbc\x91",
                             "100.1%free", "101%total", "- 1",    "1G1",        "unlimited unset",
                             "%free",      "$((1))"};
  for (const char* text : bad) {
    const auto size = parse_size(text, Knob::kCacheLimit, "WEIR_CACHE_LIMIT");
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().kind, ErrorKind::kUsage);
    EXPECT_EQ(size.error().where, "WEIR_CACHE_LIMIT");
    EXPECT_THAT(size.error().message, HasSubstr(shown(text)));
    EXPECT_THAT(size.error().message, HasSubstr("write a size such as 512MiB"));
  }
}

TEST(SizeGrammar, RefusesOverflowInsteadOfWrapping) {
  for (const char* text : {"99999999999999999999", "9223372036854775808", "8388608T", "9223372.1TB",
                           "18446744073709551616K", "100000000000000000000000000000000000000000000G"}) {
    const auto size = parse_size(text, Knob::kCacheLimit, "x");
    ASSERT_FALSE(size) << text;
    EXPECT_THAT(size.error().message, HasSubstr("9,223,372,036,854,775,807 bytes"));
  }
  EXPECT_EQ(bytes_of_text("8388607.999999999999T"), 9'223'372'036'854'775'807 - 1);
}

TEST(SizeGrammar, RefusesZeroAsMemoryLimit) {
  for (const char* text : {"0", "0G", "0.0001K", "0%free", "0.00%total"}) {
    const auto size = parse_size(text, Knob::kMemoryLimit, "WEIR_MEMORY_LIMIT");
    ASSERT_FALSE(size) << text;
    EXPECT_THAT(size.error().message, HasSubstr("forbid every allocation"));
    EXPECT_THAT(size.error().message, HasSubstr("8GiB"));
    EXPECT_TRUE(parse_size(text, Knob::kCacheLimit, "x")) << text;
  }
}

TEST(SizeGrammar, EscapesAndShortensHostileTexts) {
  const std::string hostile = "\x1b[31m\n\xff" + std::string(100'000, 'A');
  const auto size = parse_size(hostile, Knob::kCacheLimit, "x");
  ASSERT_FALSE(size);
  EXPECT_LT(size.error().message.size(), 300u);
  EXPECT_THAT(size.error().message, HasSubstr("\\x1b[31m\\x0a\\xffAAA"));
  EXPECT_THAT(size.error().message, HasSubstr("100,007 bytes long"));
}

TEST(SizeGrammar, KeepsFractionsOfAnyLengthExact) {
  EXPECT_EQ(bytes_of_text("0." + std::string(50'000, '9') + "G"), kGiB - 1);
  EXPECT_EQ(bytes_of_text("1." + std::string(50'000, '0') + "1G"), kGiB);
  EXPECT_EQ(bytes_of_text("0.1G"), 107'374'182);  // 107,374,182.4
}

TEST(SizeGrammar, DoesNotAskTheLocale) {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) std::setlocale(LC_ALL, "C.UTF-8");
  EXPECT_EQ(bytes_of_text("1.5g"), 1'610'612'736);
  EXPECT_EQ(bytes_of_text("1,5g"), -1);
  std::setlocale(LC_ALL, "C");
}

TEST(SizeGrammarProperty, PrintedIntegersComeBackUnderEveryUnitAndSpelling) {
  std::mt19937_64 random(20261130);
  const std::pair<const char*, std::int64_t> units[] = {
      {"", 1}, {"k", 1024}, {"KiB", 1024}, {"kb", 1000}, {"M", 1 << 20}, {"mB", 1'000'000}, {"gib", 1 << 30}};
  for (int round = 0; round < 20'000; ++round) {
    const auto& [unit, scale] = units[random() % std::size(units)];
    const auto value = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (1 + random() % 33)));
    const std::string space = *unit != '\0' && random() % 2 ? " " : "";
    const std::string text = std::string(random() % 3, ' ') + std::to_string(value) + space + unit;
    EXPECT_EQ(bytes_of_text(text), value * scale) << text;
  }
}

TEST(SizeGrammarProperty, FractionsAreTheFloorOfTheExactQuotient) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 20'000; ++round) {
    const auto whole = static_cast<std::int64_t>(random() % 1000);
    const auto thousandths = static_cast<std::int64_t>(random() % 1'000'000);
    const std::string digits = std::to_string(1'000'000 + thousandths).substr(1);
    const std::string text = std::to_string(whole) + "." + digits + "GiB";
    EXPECT_EQ(bytes_of_text(text), whole * kGiB + thousandths * kGiB / 1'000'000) << text;
    const auto share =
        parse_size(std::to_string(whole % 100) + "." + digits + "%free", Knob::kCacheLimit, "x");
    ASSERT_TRUE(share);
    const std::int64_t of = static_cast<std::int64_t>(random() % 50'000'000'000);
    const Wide exact = (static_cast<Wide>(whole % 100) * 1'000'000 + thousandths) * of / 100'000'000;
    EXPECT_EQ(bytes_of(*share->percentage, of), static_cast<std::int64_t>(exact));
  }
}

TEST(SizeGrammarProperty, OneCharacterTooManyIsNeverIgnored) {
  const std::string base = "64MiB";
  for (std::size_t at = 1; at <= base.size(); ++at) {
    for (int c = 0x21; c < 0x100; ++c) {
      std::string text = base;
      text.insert(at, 1, static_cast<char>(c));
      const auto size = parse_size(text, Knob::kCacheLimit, "x");
      const bool still_a_number = (c >= '0' && c <= '9' && at <= 2) || (c == '.' && at == 1);
      EXPECT_EQ(size.has_value(), still_a_number) << text;
    }
  }
}

TEST(Percentage, SaysWhenTheResultIsTooLarge) {
  EXPECT_EQ(bytes_of({200, "", "model"}, 9'223'372'036'854'775'807), std::nullopt);
  EXPECT_EQ(bytes_of({100, "", "free"}, 9'223'372'036'854'775'807), 9'223'372'036'854'775'807);
  EXPECT_EQ(bytes_of({10, "", "free"}, -5), 0);
}

TEST(Count, TakesWholeNumbersOfItsUnitOnly) {
  EXPECT_EQ(parse_count(" 512 ", 1 << 20, "QWISP_LANE_MLX_CACHE_MB"), 536'870'912);
  for (const char* text : {"", "-1", "512MB", "1.5", "99999999999999999999", "9223372036854775807"}) {
    const auto count = parse_count(text, 1 << 20, "QWISP_LANE_MLX_CACHE_MB");
    ASSERT_FALSE(count) << text;
    EXPECT_THAT(count.error().message, HasSubstr(shown(text)));
    EXPECT_THAT(count.error().message, HasSubstr("such as 512"));
  }
}

}  // namespace
}  // namespace weir::limits
