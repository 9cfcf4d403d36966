#include "cli/top_screen.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <clocale>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

#define NCURSES_NOMACROS 1
#include <ncurses.h>

#include "base/interrupt.h"
#include "report/style.h"

namespace weir::cli {
namespace {

constexpr int kEscape = 27;
constexpr int kEscapeDelay = 25;  // ms that the rest of an arrow key may take

volatile std::sig_atomic_t was_continued = 0;
volatile std::sig_atomic_t end_signal = 0;

void on_continue(int) {
  was_continued = 1;
}
void on_end(int number) {
  end_signal = number;
}

/// Signals that stay blocked outside of `wait`.
constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH};
/// Those that get a handler here; the others are InterruptGuard's and ncurses's.
constexpr std::array kOwnSignals = {SIGHUP, SIGQUIT, SIGCONT};

/// The handlers of this screen, and what was there before.
class SignalHandlers {
 public:
  SignalHandlers() {
    was_continued = 0;
    end_signal = 0;
    sigset_t blocked;
    ::sigemptyset(&blocked);
    for (const int number : kSignals)
      ::sigaddset(&blocked, number);
    ::sigprocmask(SIG_BLOCK, &blocked, &mask_);
    for (std::size_t i = 0; i < kOwnSignals.size(); ++i) {
      ::sigaction(kOwnSignals[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      action.sa_handler = kOwnSignals[i] == SIGCONT ? on_continue : on_end;
      ::sigaction(kOwnSignals[i], &action, nullptr);
    }
  }
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;
  ~SignalHandlers() {
    for (std::size_t i = 0; i < kOwnSignals.size(); ++i)
      ::sigaction(kOwnSignals[i], &before_[i], nullptr);
    ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
    if (end_signal != 0) ::raise(end_signal);
  }

  [[nodiscard]] const sigset_t& mask() const noexcept { return mask_; }

 private:
  sigset_t mask_{};
  std::array<struct sigaction, kOwnSignals.size()> before_{};
};

enum Pair : short { kBlue = 1, kYellow, kCyan, kGreen, kRed };

bool start_colours() {
  if (!report::style_of(STDOUT_FILENO).colour || !::has_colors()) return false;
  ::start_color();
  const short background = ::use_default_colors() == OK ? -1 : COLOR_BLACK;
  ::init_pair(kBlue, COLOR_BLUE, background);
  ::init_pair(kYellow, COLOR_YELLOW, background);
  ::init_pair(kCyan, COLOR_CYAN, background);
  ::init_pair(kGreen, COLOR_GREEN, background);
  ::init_pair(kRed, COLOR_RED, background);
  return true;
}

attr_t pair(bool colour, Pair number) {
  return colour ? static_cast<attr_t>(COLOR_PAIR(number)) : A_NORMAL;
}

attr_t attributes(Ink ink, bool colour) {
  switch (ink) {
    case Ink::kPlain:
      break;
    case Ink::kStrong:
      return A_BOLD;
    case Ink::kFaint:
      return A_DIM;
    case Ink::kHead:
      return A_BOLD | A_UNDERLINE;
    case Ink::kLive:
      return pair(colour, kGreen);
    case Ink::kRetained:
      return pair(colour, kYellow);
    case Ink::kHeapIdle:
      return pair(colour, kCyan);
    case Ink::kIdentified:
      return pair(colour, kBlue);
    case Ink::kUnexplained:
    case Ink::kWarning:
      return pair(colour, kRed) | A_BOLD;
  }
  return A_NORMAL;
}

/// Reversed, a full block would look empty: bars and histories keep their colours in the selected row.
bool is_text(Ink ink) {
  return ink == Ink::kPlain || ink == Ink::kStrong || ink == Ink::kWarning;
}

TopKey key_of(int code) {
  switch (code) {
    case KEY_UP:
    case 'k':
      return TopKey::kUp;
    case KEY_DOWN:
    case 'j':
      return TopKey::kDown;
    case KEY_PPAGE:
      return TopKey::kPageUp;
    case KEY_NPAGE:
      return TopKey::kPageDown;
    case KEY_HOME:
      return TopKey::kHome;
    case KEY_END:
      return TopKey::kEnd;
    case 'w':
      return TopKey::kWhy;
    case 's':
      return TopKey::kSort;
    case '?':
    case 'h':
      return TopKey::kHelp;
    case kEscape:
      return TopKey::kBack;
    case 'q':
      return TopKey::kQuit;
    default:
      return TopKey::kOther;
  }
}

bool can_be_drawn_on() {
  const char* term = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) == 1 && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

}  // namespace

struct TopScreen::State {
  SignalHandlers signals;
  SCREEN* screen = nullptr;
  bool unicode = true;
  bool colour = false;
  bool has_keys = false;  ///< stdin is a terminal.
  bool is_gone = false;   ///< It hung up.

  /// A stopped job hears of no new size, so each drawing asks.
  void take_size() const {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return;
    if (size.ws_row != LINES || size.ws_col != COLS) ::resizeterm(size.ws_row, size.ws_col);
  }
  ~State() {
    if (screen == nullptr) return;
    ::endwin();
    ::delscreen(screen);
  }
};

TopScreen::TopScreen(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
TopScreen::TopScreen(TopScreen&&) noexcept = default;
TopScreen::~TopScreen() = default;

std::optional<TopScreen> TopScreen::open() {
  if (!can_be_drawn_on()) return std::nullopt;
  std::setlocale(LC_CTYPE, "");
  auto state = std::make_unique<State>();
  state->screen = ::newterm(nullptr, stdout, stdin);
  if (state->screen == nullptr) return std::nullopt;
  state->unicode = report::style_of(STDOUT_FILENO).unicode;
  state->colour = start_colours();
  state->has_keys = ::isatty(STDIN_FILENO) == 1;
  ::cbreak();
  ::noecho();
  ::curs_set(0);
  ::nodelay(stdscr, TRUE);
  ::keypad(stdscr, TRUE);
  ::set_escdelay(kEscapeDelay);
  // Arrows of a terminal that ignores the keypad's mode.
  ::define_key("\033[A", KEY_UP);
  ::define_key("\033[B", KEY_DOWN);
  return TopScreen(std::move(state));
}

TopFrame TopScreen::frame() const {
  state_->take_size();
  return {COLS, LINES, state_->unicode};
}

void TopScreen::draw(const std::vector<TopLine>& lines) {
  ::werase(stdscr);
  for (std::size_t row = 0; row < lines.size(); ++row) {
    ::wmove(stdscr, static_cast<int>(row), 0);
    for (const TopLine::Span& span : lines[row].spans()) {
      const attr_t selected = lines[row].is_selected && is_text(span.ink) ? A_REVERSE : A_NORMAL;
      ::wattrset(stdscr, static_cast<int>(attributes(span.ink, state_->colour) | selected));
      ::waddnstr(stdscr, span.text.data(), static_cast<int>(span.text.size()));
    }
    ::wattrset(stdscr, A_NORMAL);
  }
  ::wrefresh(stdscr);
}

std::vector<TopKey> TopScreen::wait(std::chrono::milliseconds patience) {
  pollfd input{state_->has_keys ? STDIN_FILENO : -1, POLLIN, 0};
  // In slices: a signal that another thread of this process takes just before poll does not end it.
  constexpr std::chrono::milliseconds kSlice{200};
  for (auto left = patience;; left -= kSlice) {
    const auto slice = std::min(left, kSlice);
    const timespec time{0, static_cast<long>(slice.count() * 1'000'000)};
    if (::ppoll(&input, 1, &time, &state_->signals.mask()) != 0 || is_ended() || left <= kSlice) break;
  }
  if (was_continued != 0) {
    // Also after a SIGSTOP, which nobody saw coming: the shell had the terminal meanwhile.
    was_continued = 0;
    ::endwin();
    ::clearok(curscr, TRUE);
    ::wrefresh(stdscr);
  }
  if ((input.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) state_->is_gone = true;
  std::vector<TopKey> keys;
  if (!state_->has_keys) return keys;
  for (int code = ::wgetch(stdscr); code != ERR; code = ::wgetch(stdscr))
    if (code != KEY_RESIZE) keys.push_back(key_of(code));
  return keys;
}

bool TopScreen::is_ended() const noexcept {
  return interrupt_requested() || end_signal != 0 || state_->is_gone;
}

}  // namespace weir::cli
