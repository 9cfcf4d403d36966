#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/layers.h"

namespace weir::cli {

/// What a stretch of text is, so that a screen can colour it; text alone says the same.
enum class Ink {
  kPlain,
  kStrong,
  kFaint,
  kHead,
  kLive,
  kRetained,
  kHeapIdle,
  kIdentified,
  kUnexplained,
  kWarning,
};

/// What the place can show.
struct TopFrame {
  int width = 80;
  int height = 24;
  bool unicode = true;  ///< false: bars, history and signs in ASCII.
};

/// One line of the screen: UTF-8, in stretches of one ink. A value.
class TopLine {
 public:
  struct Span {
    std::string text;
    Ink ink;
  };

  TopLine() = default;
  explicit TopLine(std::string_view text, Ink ink = Ink::kPlain) { add(text, ink); }

  TopLine& add(std::string_view text, Ink ink = Ink::kPlain);
  /// Exactly `width` columns: cut with a sign at its end, or padded on the right (left: `right`).
  TopLine& add_cell(std::string_view text, int width, bool right, const TopFrame& frame,
                    Ink ink = Ink::kPlain);

  [[nodiscard]] const std::vector<Span>& spans() const noexcept { return spans_; }
  [[nodiscard]] int width() const;
  /// Without trailing blanks.
  [[nodiscard]] std::string text() const;
  /// No wider than `width`, each sign as the frame can show it.
  [[nodiscard]] TopLine fitted(const TopFrame& frame) const;

  bool is_selected = false;  ///< The whole line stands out.

 private:
  std::vector<Span> spans_;
};

/// The text in at most `width` columns; what is cut ends in "…" ("~" without unicode).
[[nodiscard]] std::string clipped(std::string_view text, int width, bool unicode);

/// The layers as a bar of `width` cells, of which `scale` bytes fill all: live, retained, heap idle,
/// identified, unexplained, each with its own sign. It is as long as the footprint, whatever the layers say.
void add_layers_bar(TopLine& line, const ledger::Layers& layers, std::int64_t scale, int width,
                    const TopFrame& frame);

/// The signs of the bar with their names.
void add_bar_legend(TopLine& line, const TopFrame& frame);

/// How full something is, as "[####----]" of `width` cells in all.
void add_gauge(TopLine& line, double share, int width, const TopFrame& frame, Ink ink);

/// The latest `width` values, oldest first, between their smallest and largest; a range below an eighth of
/// the largest counts as an eighth, so that noise stays flat. Short histories are padded on the left.
[[nodiscard]] std::string sparkline(const std::vector<std::int64_t>& values, int width, bool unicode);

/// "27", "1,234", "12.3 k", "1.2 M": a rate or a count in at most 6 columns.
[[nodiscard]] std::string short_count(double count);

}  // namespace weir::cli
