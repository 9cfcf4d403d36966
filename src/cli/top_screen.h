#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "cli/top_line.h"
#include "cli/top_model.h"

namespace weir::cli {

/// The terminal while `weir top` has it: the alternate screen, keys as they are pressed, no cursor. The
/// destructor gives it back as it was. One at a time; not thread-safe.
///
/// Signals come only inside `wait`: there Ctrl-Z gives the terminal back until the shell goes on, a new size
/// is taken over, and SIGINT, SIGTERM, SIGHUP and SIGQUIT end the wait (`is_ended`), so that the owner leaves
/// in order. SIGHUP and SIGQUIT then take their usual course when the terminal is restored.
class TopScreen {
 public:
  /// nullopt: no terminal that can be drawn on (TERM unset, unknown or dumb; stdout elsewhere).
  [[nodiscard]] static std::optional<TopScreen> open();
  TopScreen(TopScreen&&) noexcept;
  TopScreen& operator=(TopScreen&&) = delete;
  ~TopScreen();

  [[nodiscard]] TopFrame frame() const;
  void draw(const std::vector<TopLine>& lines);
  /// The keys that come before the time is up, or as soon as there are some; also returns, without one, when
  /// the screen must be drawn anew. "?" and the letters mean what the model's keys do.
  [[nodiscard]] std::vector<TopKey> wait(std::chrono::milliseconds patience);
  /// Somebody asked for the end, or the terminal is gone.
  [[nodiscard]] bool is_ended() const noexcept;

 private:
  struct State;
  explicit TopScreen(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace weir::cli
