#include "cli/top.h"

#include <unistd.h>
#include <chrono>
#include <cmath>
#include <ctime>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "cli/governed_words.h"
#include "cli/top_history.h"
#include "cli/top_model.h"
#include "cli/top_plain.h"
#include "cli/top_screen.h"
#include "cli/top_view.h"
#include "ledger/governed_page.h"

namespace weir::cli {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

constexpr double kLeastDelay = 0.1;
constexpr double kMostDelay = 86'400;
constexpr double kDelay = 1;
constexpr std::chrono::seconds kMachineAge{1};
constexpr std::int64_t kHeadEvery = 40;
constexpr milliseconds kLongestSleep{100};  // a signal may come just before it

struct Options {
  std::optional<double> delay;
  std::optional<std::int64_t> count;
  bool json = false;
};

/// What is asked for, once it is right.
struct Wanted {
  milliseconds delay{0};
  std::int64_t count = 0;  ///< Looks; 0: until somebody ends it.
  bool json = false;
};

Result<Wanted> wanted(const Options& options) {
  const double delay = options.delay.value_or(kDelay);
  if (!(delay >= kLeastDelay && delay <= kMostDelay))
    return fail(ErrorKind::kUsage, "--delay",
                fmt::format("must be 0.1 to 86400 seconds: {}", options.delay.value_or(0)));
  if (options.count && *options.count < 1)
    return fail(ErrorKind::kUsage, "--count", fmt::format("must be 1 or more: {}", *options.count));
  return Wanted{milliseconds(std::llround(delay * 1'000)), options.count.value_or(0), options.json};
}

std::string clock_text() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

/// Looks at everything, and remembers.
class Looks {
 public:
  explicit Looks(std::filesystem::path folder) : table_(std::move(folder)) {}

  const std::vector<WatchedProcess>& look() {
    history_.add(table_.read(), clock_.now());
    return history_.processes();
  }
  /// At most so old: its files are the kernel's slowest.
  const std::optional<ledger::MachineMemory>& machine() {
    if (!machine_ || Steady::now() - machine_at_ > kMachineAge) {
      const auto read = ledger::machine_memory();
      machine_ = read ? std::optional(*read) : std::nullopt;
      machine_at_ = Steady::now();
    }
    return machine_;
  }

 private:
  SystemClock clock_;
  ledger::ProcessTable table_;
  TopHistory history_;
  std::optional<ledger::MachineMemory> machine_;
  Steady::time_point machine_at_{};
};

std::string delay_text(milliseconds delay) {
  return fmt::format("{:g} s", static_cast<double>(delay.count()) / 1'000);
}

/// Until a look is due. False: somebody ended it.
bool serve_keys(TopScreen& screen, TopModel& model, const TopHeader& header, Steady::time_point due) {
  for (;;) {
    screen.draw(top_screen_lines(model, header, screen.frame()));
    const auto left = std::chrono::ceil<milliseconds>(due - Steady::now());
    const std::vector<TopKey> keys = screen.wait(std::max(left, milliseconds(0)));
    if (screen.is_ended()) return false;
    for (const TopKey key : keys)
      if (!model.press(key)) return false;
    if (Steady::now() >= due) return true;
  }
}

void run_screen(TopScreen& screen, Looks& looks, const Wanted& wanted) {
  TopModel model;
  Steady::time_point due = Steady::now();
  for (std::int64_t done = 0; wanted.count == 0 || done < wanted.count; ++done) {
    model.show(looks.look());
    const TopHeader header{clock_text(), delay_text(wanted.delay), looks.machine()};
    due = std::max(due + wanted.delay, Steady::now());
    if (!serve_keys(screen, model, header, due)) return;
  }
}

void print_look(const std::vector<WatchedProcess>& processes, bool json, bool with_head) {
  if (json) {
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    stream_result(json_line(processes, now.count()));
    return;
  }
  std::string out = with_head ? plain_head() : "";
  const std::string clock = clock_text();
  for (const WatchedProcess& process : processes)
    out += plain_line(process, clock);
  stream_result(out);
}

void sleep_until(Steady::time_point due) {
  while (!interrupt_requested() && Steady::now() < due)
    std::this_thread::sleep_for(std::min<Steady::duration>(due - Steady::now(), kLongestSleep));
}

void run_plain(Looks& looks, const Wanted& wanted, const Invocation& invocation) {
  Steady::time_point due = Steady::now();
  for (std::int64_t done = 0; !interrupt_requested(); ++done) {
    const auto& processes = looks.look();
    if (done == 0 && processes.empty() && !wanted.json)
      note(invocation, "no governed process lives yet; start one with: weir run -- COMMAND");
    print_look(processes, wanted.json, done % kHeadEvery == 0);
    if (done + 1 == wanted.count) return;
    due = std::max(due + wanted.delay, Steady::now());
    sleep_until(due);
  }
}

Result<int> run_top(const Options& options, const Invocation& invocation) {
  const auto asked = wanted(options);
  if (!asked) return tl::unexpected(asked.error());
  const auto folder = ledger::runtime_folder();
  if (!folder) return tl::unexpected(folder.error());
  Looks looks(*folder);
  if (!asked->json) {
    if (std::optional<TopScreen> screen = TopScreen::open()) {
      run_screen(*screen, looks, *asked);
      return 0;
    }
  }
  run_plain(looks, *asked, invocation);
  return 0;
}

}  // namespace

Subcommand top_subcommand() {
  const auto options = std::make_shared<Options>();
  Subcommand subcommand;
  subcommand.name = "top";
  subcommand.summary =
      "The same as ps, live: layers, limits, rates, history, and why freed buffers are not reused";
  subcommand.example = "  weir top\n  weir top --delay 0.1\n  weir top --count 60 >memory.log";
  subcommand.flags = {
      {"--delay", "SECONDS", "Time between two looks, 0.1 or more (1)", &options->delay},
      {"--count", "N", "End after so many looks", &options->count},
      {"--json", "", "Print one line of JSON for each look", &options->json},
  };
  subcommand.run = [options](const Invocation& invocation) { return run_top(*options, invocation); };
  return subcommand;
}

}  // namespace weir::cli
