#include "report/style.h"

#include <langinfo.h>
#include <locale.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace weir::report {

namespace {

constexpr std::uint32_t kBroken = 0xFFFFFFFF;

/// The code point at `at` and its length in bytes; kBroken and 1 where the bytes are no UTF-8.
std::pair<std::uint32_t, std::size_t> decode(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xF0 && first < 0xF5 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first >= 0xF5 || at + length > text.size()) return {kBroken, 1};
  std::uint32_t point = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return {kBroken, 1};
    point = point << 6 | (byte(at + i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  if (overlong || (point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) return {kBroken, 1};
  return {point, length};
}

struct Spelling {
  std::uint32_t point;
  const char* ascii;
};
constexpr std::array<Spelling, 9> kSpellings{{{0x2212, "-"},
                                              {0x2265, ">="},
                                              {0x2264, "<="},
                                              {0x00B1, "+/-"},
                                              {0x00D7, "x"},
                                              {0x2013, "-"},
                                              {0x00B7, "|"},
                                              {0x2192, "->"},
                                              {0x2014, "-"}}};

const char* ascii_of(std::uint32_t point) {
  for (const Spelling& spelling : kSpellings)
    if (spelling.point == point) return spelling.ascii;
  return "?";
}

struct Range {
  std::uint32_t first, last;
};
constexpr std::array<Range, 5> kZeroWidth{
    {{0x0300, 0x036F}, {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}}};
constexpr std::array<Range, 9> kDoubleWidth{{{0x1100, 0x115F},
                                             {0x2E80, 0xA4CF},
                                             {0xAC00, 0xD7A3},
                                             {0xF900, 0xFAFF},
                                             {0xFE30, 0xFE6F},
                                             {0xFF00, 0xFF60},
                                             {0xFFE0, 0xFFE6},
                                             {0x1F300, 0x1FAFF},
                                             {0x20000, 0x3FFFD}}};

template <std::size_t N>
bool in_ranges(const std::array<Range, N>& ranges, std::uint32_t point) {
  for (const Range& range : ranges)
    if (point >= range.first && point <= range.last) return true;
  return false;
}

bool locale_is_utf8() {
  const locale_t locale = ::newlocale(LC_CTYPE_MASK, "", nullptr);
  if (locale == nullptr) return false;
  const std::string codeset = ::nl_langinfo_l(CODESET, locale);
  ::freelocale(locale);
  return codeset == "UTF-8" || codeset == "utf8";
}

bool set_and_not_empty(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

}  // namespace

Style style_of(int fd) {
  Style style;
  if (::isatty(fd) != 1) return style;
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  style.unicode = locale_is_utf8();
  const char* term = std::getenv("TERM");
  style.colour =
      !set_and_not_empty("NO_COLOR") && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  return style;
}

std::string spelled(std::string_view text, const Style& style) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [point, length] = decode(text, at);
    if (point == '\n' || point == '\t') {
      out += ' ';
    } else if (point < 0x20 || (point >= 0x7F && point < 0xA0) || point == kBroken) {
      out += '?';
    } else if (point < 0x80 || style.unicode) {
      out.append(text, at, length);
    } else {
      out += ascii_of(point);
    }
    at += length;
  }
  return out;
}

int display_width(std::string_view text) {
  int columns = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [point, length] = decode(text, at);
    if (!in_ranges(kZeroWidth, point)) columns += point != kBroken && in_ranges(kDoubleWidth, point) ? 2 : 1;
    at += length;
  }
  return columns;
}

std::string wrapped(std::string_view text, int width, std::string_view indent) {
  if (width <= 0) return std::string(text);
  std::string out;
  int column = 0;
  while (!text.empty()) {
    const std::size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    const int columns = display_width(word);
    if (column > 0 && column + 1 + columns > width) {
      out += '\n';
      out += indent;
      column = display_width(indent);
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns;
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

}  // namespace weir::report
