#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "lab/experiment.h"
#include "report/style.h"

namespace weir::price {

/// "footprint start 3 of 12 (64 MiB) · 25 % · 3 min left": one report of the lab as a line.
[[nodiscard]] std::string progress_text(const lab::Progress& progress);

/// Progress on stderr. On a terminal one line that is written over; elsewhere a whole line when a phase
/// begins and then at most every ten seconds. The destructor clears the terminal's line. Not thread-safe.
class ProgressLines {
 public:
  /// `write` gets bytes as they are; `style` says what they may hold. `clock` outlives this.
  ProgressLines(bool on_terminal, report::Style style, IClock& clock,
                std::function<void(std::string_view)> write)
      : on_terminal_(on_terminal), style_(style), clock_(clock), write_(std::move(write)) {}
  ~ProgressLines() { clear(); }
  ProgressLines(const ProgressLines&) = delete;
  ProgressLines& operator=(const ProgressLines&) = delete;

  void show(const lab::Progress& progress);
  /// A line that stays, such as the sealed plan.
  void say(std::string_view line);
  void clear();

 private:
  bool on_terminal_;
  report::Style style_;
  IClock& clock_;
  std::function<void(std::string_view)> write_;
  bool line_is_open_ = false;
  bool said_any_ = false;
  lab::Phase phase_ = lab::Phase::kProbe;
  Nanoseconds last_{};
};

}  // namespace weir::price
