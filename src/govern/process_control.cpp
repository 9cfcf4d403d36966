#include "govern/process_control.h"

#include <cstdio>
#include <exception>
#include <utility>

#include "govern/process_page.h"

namespace weir::govern {

ProcessControl::ProcessControl(Parts parts)
    : parts_(std::move(parts)),
      log_(*parts_.acts, parts_.page),
      need_(log_, parts_.settings),
      control_(log_, parts_.page) {
  control_.on_need([this](std::uint64_t bytes) { return need_.give(bytes, governor_now_ms()); });
}

void ProcessControl::give_up(const char* why) noexcept {
  if (parts_.count_trouble) parts_.count_trouble();
  if (parts_.folder.empty()) return;
  char text[256];
  std::snprintf(text, sizeof text, "weir ctl cannot reach process %u: %s; it keeps the limits it has",
                static_cast<unsigned>(parts_.page.load()->pid.load()), why);
  print_line(text);
}

void ProcessControl::start_watches() {
  // In a fork's child the one that was copied goes: it saw another process.
  boundaries_ =
      watch_boundaries(log_, parts_.page, parts_.settings, parts_.folder.c_str(), parts_.take_lacking);
  if (const char* const trouble = control_.open(parts_.folder)) give_up(trouble);
  std::vector<IWatch*> watches = {&control_};
  watches.insert(watches.end(), others_.begin(), others_.end());
  if (boundaries_) watches.push_back(boundaries_.get());
  if (watches.size() == 1 && !control_.is_open()) return;
  if (thread_.start(std::move(watches))) return;
  control_.end();
  control_.leave();
  give_up("no thread can be had for it");
}

void ProcessControl::start() noexcept {
  try {
    start_watches();
  } catch (const std::exception& trouble) {
    give_up(trouble.what());
  }
}

void ProcessControl::start_anew() noexcept {
  if (awaits_start_.exchange(false)) start();
}

void ProcessControl::before_fork() noexcept {
  thread_.lock_for_fork();
  log_.lock_for_fork();
}

void ProcessControl::after_fork_in_parent() noexcept {
  log_.unlock_after_fork();
  thread_.unlock_after_fork();
}

void ProcessControl::after_fork_in_child(bool goes_on) noexcept {
  after_fork_in_parent();
  thread_.leave();
  control_.leave();
  awaits_start_ = goes_on;
}

void ProcessControl::end() noexcept {
  awaits_start_ = false;
  thread_.end();
  control_.end();
}

}  // namespace weir::govern
