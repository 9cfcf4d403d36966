#include "cli/top_line.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/byte_text.h"
#include "base/utf8.h"
#include "report/style.h"

namespace weir::cli {
namespace {

using report::display_width;

struct BarPart {
  const char* name;
  ledger::Bytes ledger::Layers::*bytes;
  Ink ink;
  const char* sign;
  const char* ascii_sign;
};

constexpr BarPart kBarParts[] = {
    {"live", &ledger::Layers::live, Ink::kLive, "█", "#"},
    {"retained", &ledger::Layers::retained, Ink::kRetained, "▒", "="},
    {"heap idle", &ledger::Layers::heap_idle, Ink::kHeapIdle, "░", "-"},
    {"identified", &ledger::Layers::identified, Ink::kIdentified, "▪", ":"},
    {"unexplained", &ledger::Layers::unexplained, Ink::kUnexplained, "?", "?"},
};

constexpr std::array<const char*, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 8> kAsciiLevels = {"_", ".", "-", "~", "=", "+", "*", "#"};

std::string repeated(const char* sign, int count) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += sign;
  return out;
}

std::string blanks(int count) {
  return std::string(static_cast<std::size_t>(std::max(count, 0)), ' ');
}

int cells_of(std::int64_t bytes, std::int64_t scale, int width) {
  if (scale <= 0 || bytes <= 0) return 0;
  const double share = static_cast<double>(bytes) / static_cast<double>(scale);
  return static_cast<int>(std::lround(std::min(share, 1.0) * width));
}

report::Style style_of(bool unicode) {
  report::Style style;
  style.unicode = unicode;
  return style;
}

}  // namespace

TopLine& TopLine::add(std::string_view text, Ink ink) {
  if (text.empty()) return *this;
  if (!spans_.empty() && spans_.back().ink == ink)
    spans_.back().text += text;
  else
    spans_.push_back({std::string(text), ink});
  return *this;
}

TopLine& TopLine::add_cell(std::string_view text, int width, bool right, const TopFrame& frame, Ink ink) {
  const std::string cell = clipped(report::spelled(text, style_of(frame.unicode)), width, frame.unicode);
  const std::string filler = blanks(width - display_width(cell));
  return right ? add(filler + cell, ink) : add(cell + filler, ink);
}

int TopLine::width() const {
  int columns = 0;
  for (const Span& span : spans_)
    columns += display_width(span.text);
  return columns;
}

std::string TopLine::text() const {
  std::string out;
  for (const Span& span : spans_)
    out += span.text;
  out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

TopLine TopLine::fitted(const TopFrame& frame) const {
  TopLine line;
  line.is_selected = is_selected;
  int left = frame.width;
  for (const Span& span : spans_) {
    const std::string text =
        clipped(report::spelled(span.text, style_of(frame.unicode)), left, frame.unicode);
    line.add(text, span.ink);
    left -= display_width(text);
    if (left <= 0) break;
  }
  return line;
}

std::string clipped(std::string_view text, int width, bool unicode) {
  if (width <= 0) return "";
  if (display_width(text) <= width) return std::string(text);
  std::string out;
  int columns = 0;
  while (!text.empty()) {
    const std::size_t length = first_utf8(text).length;
    const int step = display_width(text.substr(0, length));
    if (columns + step > width - 1) break;
    out += text.substr(0, length);
    columns += step;
    text.remove_prefix(length);
  }
  return out + (unicode ? "…" : "~");
}

void add_layers_bar(TopLine& line, const ledger::Layers& layers, std::int64_t scale, int width,
                    const TopFrame& frame) {
  const int all = cells_of(layers.footprint.value_or(0), scale, width);
  // Boundaries are rounded, not lengths: the parts of a long bar do not drift.
  std::int64_t so_far = -layers.untouched.value_or(0);
  int drawn = 0;
  for (const BarPart& part : kBarParts) {
    so_far += std::max<std::int64_t>(0, (layers.*part.bytes).value_or(0));
    const int end = std::min(all, cells_of(so_far, scale, width));
    if (end <= drawn) continue;
    line.add(repeated(frame.unicode ? part.sign : part.ascii_sign, end - drawn), part.ink);
    drawn = end;
  }
  line.add(blanks(width - drawn));
}

void add_bar_legend(TopLine& line, const TopFrame& frame) {
  for (const BarPart& part : kBarParts) {
    line.add(frame.unicode ? part.sign : part.ascii_sign, part.ink);
    line.add(std::string(" ") + part.name + (&part == std::end(kBarParts) - 1 ? "" : "  "), Ink::kFaint);
  }
}

void add_gauge(TopLine& line, double share, int width, const TopFrame& frame, Ink ink) {
  const int room = std::max(width - 2, 0);
  const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * room));
  line.add("[").add(repeated(frame.unicode ? "█" : "#", full), ink);
  line.add(repeated(frame.unicode ? "·" : ".", room - full), Ink::kFaint).add("]");
}

std::string sparkline(const std::vector<std::int64_t>& values, int width, bool unicode) {
  if (width <= 0) return "";
  const auto shown = std::min(values.size(), static_cast<std::size_t>(width));
  const auto first = values.end() - static_cast<std::ptrdiff_t>(shown);
  std::string out = blanks(width - static_cast<int>(shown));
  if (shown == 0) return out;
  const auto [least, most] = std::minmax_element(first, values.end());
  const double top = static_cast<double>(*most);
  const double range = std::max({top - static_cast<double>(*least), top / 8, 1.0});
  for (auto value = first; value != values.end(); ++value) {
    const double share = top <= 0 ? 0 : (static_cast<double>(*value) - (top - range)) / range;
    const auto level = static_cast<std::size_t>(std::clamp(std::floor(share * 8), 0.0, 7.0));
    out += unicode ? kLevels[level] : kAsciiLevels[level];
  }
  return out;
}

std::string short_count(double count) {
  if (count < 0.05) return "0";
  if (count < 9.95) return fmt::format("{:.1f}", count);
  if (count < 9'999.5) return with_commas(std::llround(count));
  if (count < 999'950) return fmt::format("{:.{}f} k", count / 1e3, count < 99'950 ? 1 : 0);
  if (count < 999.95e6) return fmt::format("{:.{}f} M", count / 1e6, count < 99.95e6 ? 1 : 0);
  return fmt::format("{:.1f} G", count / 1e9);
}

}  // namespace weir::cli
