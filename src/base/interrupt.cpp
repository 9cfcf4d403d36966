#include "base/interrupt.h"

#include <atomic>
#include <csignal>

namespace weir {

namespace {

std::atomic<int> received{0};

void on_signal(int number) {
  received.store(number, std::memory_order_relaxed);
  std::signal(number, SIG_DFL);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = 0;  // no SA_RESTART: a wait for input ends too
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

InterruptGuard::~InterruptGuard() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  received.store(0, std::memory_order_relaxed);
}

bool interrupt_requested() noexcept {
  return received.load(std::memory_order_relaxed) != 0;
}

int interrupt_signal() noexcept {
  return received.load(std::memory_order_relaxed);
}

}  // namespace weir
