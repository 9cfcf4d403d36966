#include "price/progress_lines.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace weir::price {

namespace {

constexpr auto kPause = std::chrono::seconds(10);
constexpr const char* kClearLine = "\r\x1b[K";

std::string time_left(double seconds) {
  if (!std::isfinite(seconds) || seconds <= 0) return "";
  if (seconds < 90) return fmt::format("{:.0f} s left", std::ceil(seconds));
  return fmt::format("{:.0f} min left", std::ceil(seconds / 60));
}

/// The first columns of the text that fit; whole code points only.
std::string clipped(const std::string& text, int width) {
  std::string out = text;
  while (width > 0 && report::display_width(out) > width) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80)
      out.pop_back();
    if (!out.empty()) out.pop_back();
  }
  return out;
}

}  // namespace

std::string progress_text(const lab::Progress& progress) {
  std::string text = progress.what;
  if (progress.total > 0)
    text += fmt::format(" · {} %", std::clamp(100 * static_cast<std::int64_t>(progress.done) / progress.total,
                                              std::int64_t{0}, std::int64_t{100}));
  const std::string left = time_left(progress.seconds_left);
  return left.empty() ? text : text + " · " + left;
}

void ProgressLines::show(const lab::Progress& progress) {
  const std::string text = report::spelled(progress_text(progress), style_);
  if (on_terminal_) {
    write_(kClearLine + clipped(text, style_.width > 1 ? style_.width - 1 : 0));
    line_is_open_ = true;
    return;
  }
  const Nanoseconds now = clock_.now();
  if (said_any_ && progress.phase == phase_ && now - last_ < kPause) return;
  said_any_ = true;
  phase_ = progress.phase;
  last_ = now;
  write_("weir: " + text + "\n");
}

void ProgressLines::say(std::string_view line) {
  clear();
  write_("weir: " + report::spelled(line, style_) + "\n");
}

void ProgressLines::clear() {
  if (line_is_open_) write_(kClearLine);
  line_is_open_ = false;
}

}  // namespace weir::price
